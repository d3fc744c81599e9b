import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Enums with fields, bodies of their own, and constants that are called like locals. */
public class EnumPlanets {
    enum Operation {
        ADD("+") {
            @Override
            int apply(int left, int right) {
                int result = left + right;
                int checked = result;
                return checked;
            }
        },
        TIMES("*") {
            @Override
            int apply(int left, int right) {
                int result = 0;
                for (int index = 0; index < right; index++) {
                    result += left;
                }
                return result;
            }
        };

        private final String sign;
        private static int uses = 0;

        Operation(String sign) {
            this.sign = sign;
        }

        abstract int apply(int left, int right);

        static Operation of(String text) {
            Operation found = null;
            int position = 0;
            for (Operation value : values()) {
                position++;
                if (text.indexOf(value.sign) >= 0) {
                    found = value;
                }
            }
            uses += position;
            return found != null ? found : ADD;
        }
    }

    static int evaluate(String text) {
        Operation key = Operation.of(text);
        String[] value = text.split("[+*]");
        int left = Integer.parseInt(value[0].trim());
        int right = Integer.parseInt(value[1].trim());
        int outcome = key.apply(left, right);
        return outcome;
    }

    static Map<Operation, List<Integer>> group(List<String> texts) {
        Map<Operation, List<Integer>> groups = new EnumMap<>(Operation.class);
        int total = 0;
        for (String text : texts) {
            Operation operation = Operation.of(text);
            int value = evaluate(text);
            groups.computeIfAbsent(operation, ADD -> new ArrayList<>()).add(value);
            total += value;
        }
        if (!groups.isEmpty()) {
            groups.values().iterator().next().add(total);
        }
        return groups;
    }

    public static void main(String[] arguments) {
        Map<Operation, List<Integer>> groups = group(List.of("1+2", "3*4", "2 * 5"));
        if (!groups.toString().equals("{ADD=[3, 25], TIMES=[12, 10]}")) {
            throw new AssertionError(groups);
        }
        if (Operation.uses != 12 || Operation.valueOf("ADD").ordinal() != 0) {
            throw new AssertionError(Operation.uses);
        }
        System.out.println(groups + " " + group(List.of()));
    }
}
