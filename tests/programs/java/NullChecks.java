import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Comparisons with null in every position, with side effects on the other side. */
public class NullChecks {
    private static int calls = 0;
    private static String[] lines = {"one", "two", null, "three"};

    static String next() {
        return lines[calls++];
    }

    static List<String> readAll() {
        List<String> found = new ArrayList<>();
        String line;
        int length = 0;
        while ((line = next()) != null) {
            length += line.length();
            found.add(line + length);
        }
        return found;
    }

    static String chain(Map<String, Map<String, String>> tree, String key, String value) {
        Map<String, String> inner = tree.get(key);
        String found = inner != null ? inner.get(value) : null;
        boolean both = inner != null && found != null;
        boolean either = inner != null || found != null;
        String text = (Object) found != null ? found : "?";
        return text + both + either + (null != inner) + (found != null == both);
    }

    static int depth(Object[] node) {
        int deepest = 0;
        int index = 0;
        for (Object child; node != null && index < node.length; index++) {
            child = node[index];
            int below = child != null && child instanceof Object[] inner ? depth(inner) : 0;
            deepest = Math.max(deepest, below + 1);
        }
        return deepest;
    }

    static boolean flags(List<String> rows, String first) {
        boolean empty = rows.isEmpty();
        boolean some = !rows.isEmpty() && rows.get(0) != null;
        boolean given = first != null != empty;
        Optional<String> wrapped = Optional.ofNullable(first);
        return wrapped.isEmpty() == (first == null) && (empty | some) & given;
    }

    public static void main(String[] arguments) {
        check(readAll().toString() + calls, "[one3, two6]3");
        check(chain(Map.of("a", Map.of("b", "c")), "a", "b"), "ctruetruetruetrue");
        check(chain(Map.of(), "a", "b"), "?falsefalsefalsetrue");
        check("" + depth(new Object[] {1, new Object[] {2, null}}), "2");
        check("" + flags(List.of("x"), "y") + flags(List.of(), "y"), "truefalse");
        System.out.println(chain(Map.of("k", Map.of()), "k", "v") + "n-m".indexOf("-"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
