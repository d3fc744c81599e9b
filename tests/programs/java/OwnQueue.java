import java.util.ArrayList;
import java.util.List;

/** A class of our own that is called like one of the library, and whose size means another thing. */
public class OwnQueue {
    static class Queue {
        private int waiting = 2;

        boolean isEmpty() {
            return waiting == 0;
        }

        int size() {
            return 99;
        }

        void next() {
            waiting--;
        }
    }

    static int serve() {
        Queue queue = new Queue();
        int served = 0;
        int guard = 5;
        while (queue != null && !queue.isEmpty() && served < guard) {
            queue.next();
            served++;
        }
        return served;
    }

    static List<String> names(List<String> rows) {
        List<String> found = new ArrayList<>();
        int skipped = 0;
        for (String row : rows) {
            int colon = row.indexOf(":");
            String name = colon < 0 ? null : row.substring(0, colon);
            if (name != null && !name.isEmpty()) {
                found.add(name);
            } else {
                skipped++;
            }
        }
        found.add("skipped " + skipped);
        return found;
    }

    public static void main(String[] arguments) {
        check("" + serve(), "2");
        check(names(List.of("a:1", "b", ":2")).toString(), "[a, skipped 2]");
        System.out.println(serve() + names(List.of()).get(0));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
