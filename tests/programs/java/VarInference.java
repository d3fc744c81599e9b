import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.BiFunction;

/** var in every place where it may stand, also as a name. */
public class VarInference {
    static String counts(String text) {
        var counts = new HashMap<Character, Integer>();
        var key = "";
        for (var index = 0; index < text.length(); index++) {
            var letter = text.charAt(index);
            var value = counts.getOrDefault(letter, 0);
            counts.put(letter, value + 1);
        }
        for (var entry : counts.entrySet()) {
            key = entry.getValue() > 1 ? key + entry.getKey() : key;
        }
        return key + counts.isEmpty();
    }

    static int var(int var) {
        var result = var * 2;
        var other = new int[] {result, var};
        int total = 0;
        for (var number : other) {
            total += number;
        }
        return total;
    }

    static List<String> mixed(List<String> names) {
        var found = new ArrayList<String>();
        var holder = new Object() {
            int count = 0;
            String last = null;
        };
        BiFunction<String, Integer, String> join = (var left, var right) -> left + right;
        for (var name : names) {
            holder.count++;
            holder.last = holder.last != null ? holder.last + name : name;
            found.add(join.apply(name, holder.count));
        }
        found.add(holder.last + "end".indexOf("d"));
        try (var closing = new java.io.StringReader("x")) {
            found.add("" + (char) closing.read());
        } catch (java.io.IOException problem) {
            found.add("never");
        }
        return found;
    }

    public static void main(String[] arguments) {
        check(counts("banana"), "anfalse");
        check("" + var(3), "9");
        check(mixed(List.of("a", "b")).toString(), "[a1, b2, ab2, x]");
        System.out.println(mixed(List.of("z")));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
