import java.util.ArrayList;
import java.util.List;

/** Overloads, boxed and unboxed, with and without varargs: which one is called must not change. */
public class VarargsOverloads {
    static String pick(int value) { return "int"; }
    static String pick(long value) { return "long"; }
    static String pick(Integer value) { return "Integer"; }
    static String pick(Object value) { return "Object"; }
    static String pick(int... values) { return "ints" + values.length; }
    static String pick(boolean value) { return "boolean"; }
    static String pick(String value) { return "String"; }
    static String pick(char value) { return "char"; }

    static List<String> choices(List<String> rows) {
        List<String> key = new ArrayList<>();
        byte small = 3;
        long large = 4;
        Integer boxed = 5;
        char letter = 'c';
        Object thing = "text";
        key.add(pick(small));
        key.add(pick(large));
        key.add(pick(boxed));
        key.add(pick(letter));
        key.add(pick(thing));
        key.add(pick((String) thing));
        key.add(pick());
        key.add(pick(1, 2));
        key.add(pick(rows.isEmpty()));
        key.add(pick(rows != null));
        key.add(pick("x" + rows.size()));
        key.add(pick(letter + 1));
        return key;
    }

    static int sum(String label, int... values) {
        int total = label.length();
        int count = values.length;
        for (int value : values) {
            total += value;
        }
        int result = total * 10 + count;
        return result;
    }

    static String format(String pattern, Object... values) {
        String text = String.format(pattern, values);
        int position = text.indexOf("-");
        String tail = text.substring(position + 1);
        return tail;
    }

    public static void main(String[] arguments) {
        List<String> told = choices(List.of());
        List<String> wanted = List.of("int", "long", "Integer", "char", "Object", "String", "ints0",
            "ints2", "boolean", "boolean", "String", "int");
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
        if (sum("ab") != 20 || sum("a", 1, 2) != 42 || sum("", new int[] {5}) != 51) {
            throw new AssertionError(sum("a", 1, 2));
        }
        if (!format("%d-%s", 1, "z").equals("z")) {
            throw new AssertionError();
        }
        System.out.println(told);
    }
}
