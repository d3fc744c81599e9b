import java.util.List;

/** Patterns of instanceof, whose variables live where the test holds. */
public class PatternInstanceof {
    private String text = "field";

    String describe(Object value) {
        String key = "is ";
        int size = 0;
        if (value instanceof String text && !text.isEmpty()) {
            size = text.length();
            return key + text + size;
        }
        if (!(value instanceof Integer number)) {
            return key + text + (value != null);
        }
        int doubled = number * 2;
        String shown = key + doubled;
        return shown + text;
    }

    static int sum(List<?> items) {
        int total = 0;
        int skipped = 0;
        int index = 0;
        while (index < items.size()) {
            Object item = items.get(index);
            total += item instanceof Integer whole ? whole
                : item instanceof List<?> inner && !inner.isEmpty() ? sum(inner)
                : 0;
            skipped += item instanceof String ? 1 : 0;
            index++;
        }
        return total * 10 + skipped;
    }

    @Override
    public boolean equals(Object other) {
        boolean same = this == other;
        int length = text.length();
        boolean equal = same || other instanceof PatternInstanceof that && length == that.text.length();
        return equal;
    }

    @Override
    public int hashCode() {
        return text.length();
    }

    public static void main(String[] arguments) {
        PatternInstanceof patterns = new PatternInstanceof();
        expect("is ab2", patterns.describe("ab"));
        expect("is 14field", patterns.describe(7));
        expect("is fieldtrue", patterns.describe(""));
        expect("is fieldfalse", patterns.describe(null));
        expect("331", "" + sum(List.of(1, "x", List.of(2), List.of(), 12)));
        expect("true", "" + patterns.equals(new PatternInstanceof()));
        System.out.println(patterns.describe("xyz") + "a:b".indexOf(":"));
    }

    static void expect(String wanted, String told) {
        if (!wanted.equals(told)) {
            throw new AssertionError(told);
        }
    }
}
