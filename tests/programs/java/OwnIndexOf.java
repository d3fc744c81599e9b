import java.util.ArrayList;
import java.util.List;

/** indexOf of lists, of builders, of classes of our own, and of strings. */
public class OwnIndexOf {
    static class Table {
        private final String[] names = {"a", "b"};

        int indexOf(String name) {
            int position = 0;
            int found = -1;
            for (String each : names) {
                found = each.equals(name) ? position : found;
                position++;
            }
            return found;
        }

        int indexOf(String name, int fallback) {
            int found = indexOf(name);
            int result = found != -1 ? found : fallback;
            return result + 100;
        }
    }

    static List<Integer> places(String text, List<String> words) {
        List<Integer> found = new ArrayList<>();
        StringBuilder builder = new StringBuilder(text);
        Table table = new Table();
        String key = ":";
        found.add(text.indexOf(key));
        found.add(words.indexOf(text));
        found.add(builder.indexOf(key));
        found.add(table.indexOf("b"));
        found.add(text.indexOf('b'));
        found.add(text.trim().indexOf("b"));
        found.add("x:y".indexOf(key));
        found.add((text + key).indexOf("b:"));
        found.add(text.lastIndexOf("b"));
        found.add(table.indexOf("z", 0));
        return found;
    }

    static String split(String line) {
        int middle = line.indexOf("=");
        String key = middle < 0 ? line : line.substring(0, middle);
        String value = middle < 0 ? "" : line.substring(middle + 1);
        StringBuilder shown = new StringBuilder();
        shown.append("[").append(key).append("|").append(value).append("]");
        return shown.toString();
    }

    static boolean contains(List<String> rows, String part) {
        boolean any = false;
        int checked = 0;
        for (String row : rows) {
            any |= row != null && row.indexOf(part) >= 0;
            checked++;
        }
        return !rows.isEmpty() && any && checked == rows.size();
    }

    public static void main(String[] arguments) {
        check(places(" a:b", List.of(" a:b")).toString(), "[2, 0, 2, 1, 3, 2, 1, 3, 3, 100]");
        check(split("k=v=w") + split("x"), "[k|v=w][x|]");
        check("" + contains(List.of("ab", "cd"), "d") + contains(List.of(), "d"), "truefalse");
        System.out.println(places("b:", List.of()));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
