import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lines of a log, split at their signs and counted. */
public class LogParser {
    static final String LOG = """
        INFO  start: main
        WARN  disk: 91%
        INFO  stop
        ERROR disk: 100%
        """;

    static Map<String, List<String>> parse(String log) {
        Map<String, List<String>> groups = new TreeMap<>();
        int number = 0;
        for (String line : log.split("\n")) {
            number++;
            int space = line.indexOf(" ");
            int colon = line.indexOf(":");
            String key = space < 0 ? "NONE" : line.substring(0, space);
            String value = colon < 0 ? line.substring(space).trim() : line.substring(colon + 1).trim();
            List<String> members = groups.get(key);
            if (members != null) {
                members.add(number + value);
            } else {
                members = new ArrayList<>(List.of(number + value));
                groups.put(key, members);
            }
        }
        return groups;
    }

    static int worst(Map<String, List<String>> groups) {
        int worst = -1;
        int seen = 0;
        for (List<String> members : groups.values()) {
            if (members == null || members.isEmpty()) {
                continue;
            }
            for (String member : members) {
                int percent = member.indexOf("%");
                String digits = percent > 0 ? member.substring(1, percent) : "0";
                worst = Math.max(worst, Integer.parseInt(digits));
                seen++;
            }
        }
        return groups.isEmpty() ? 0 : worst * 10 + seen;
    }

    public static void main(String[] arguments) {
        Map<String, List<String>> groups = parse(LOG);
        if (!groups.toString().equals("{ERROR=[4100%], INFO=[1main, 3stop], WARN=[291%]}")) {
            throw new AssertionError(groups);
        }
        if (worst(groups) != 1004 || worst(Map.of()) != 0) {
            throw new AssertionError(worst(groups));
        }
        System.out.println(groups + " " + worst(groups));
    }
}
