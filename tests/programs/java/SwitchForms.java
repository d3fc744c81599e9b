import java.util.ArrayList;
import java.util.List;

/** Switch statements and expressions, old and new, on strings, enums and numbers. */
public class SwitchForms {
    enum Colour { RED, GREEN, BLUE }

    static final String STOP = "stop";

    static String old(int number, String word) {
        String key = "old";
        int value = 0;
        String text;
        switch (number) {
            case 0:
                int shared = 5;
                value = shared;
                break;
            case 1:
            case 2:
                shared = number * 10;
                value = shared + 1;
            default:
                value += 100;
        }
        switch (word) {
            case "go":
                text = "went";
                break;
            case STOP:
                text = "stopped";
                break;
            default:
                text = "?" + word;
        }
        return key + value + text;
    }

    static int modern(Colour colour, int amount) {
        int base = amount * 2;
        int extra = 1;
        int result = switch (colour) {
            case RED -> base;
            case GREEN -> {
                int doubled = base * 2;
                int shifted = doubled + extra;
                yield shifted;
            }
            case BLUE -> throw new IllegalArgumentException("blue " + amount);
        };
        return result;
    }

    static List<String> names(List<Colour> colours) {
        List<String> found = new ArrayList<>();
        int RED = 1;
        int count = 0;
        for (Colour colour : colours) {
            switch (colour) {
                case RED, BLUE -> found.add("primary" + RED);
                default -> {
                    String name = colour.name().toLowerCase();
                    found.add(name);
                }
            }
            count++;
        }
        found.add("count".indexOf("t") + "/" + count);
        return found;
    }

    static boolean decide(List<String> rows, int mode) {
        boolean key = mode > 1;
        boolean answer = switch (mode) {
            case 0 -> rows.isEmpty();
            case 1 -> !rows.isEmpty() && rows.get(0) != null;
            default -> key;
        };
        boolean other = rows.isEmpty() == key;
        return answer ^ other;
    }

    public static void main(String[] arguments) {
        expect("old5went", old(0, "go"));
        expect("old121stopped", old(2, "stop"));
        expect("old100?x", old(9, "x"));
        expect("6", "" + modern(Colour.RED, 3));
        expect("13", "" + modern(Colour.GREEN, 3));
        try {
            modern(Colour.BLUE, 4);
            throw new AssertionError("no exception");
        } catch (IllegalArgumentException problem) {
            expect("blue 4", problem.getMessage());
        }
        expect("[primary1, green, primary1, 4/3]", names(List.of(Colour.values())).toString());
        expect("truetruetrue", "" + decide(List.of(), 0) + !decide(List.of("a"), 1)
            + decide(List.of("a"), 2));
        System.out.println(names(List.of(Colour.BLUE)));
    }

    static void expect(String wanted, String told) {
        if (!wanted.equals(told)) {
            throw new AssertionError(told);
        }
    }
}
