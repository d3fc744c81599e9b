import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Static and instance initialisers, which run in the order of the text. */
public class InitialiserBlocks {
    static final List<String> ORDER = new ArrayList<>();
    static final Map<String, Integer> CODES = new HashMap<>();
    static int key = 1;

    static {
        int value = 10;
        int step = key + 1;
        for (String name : new String[] {"a", "b"}) {
            CODES.put(name, value);
            value += step;
        }
        ORDER.add("static");
        key = value;
    }

    private int size = start();
    private final String label;

    {
        int value = size * 2;
        String text = "block" + value;
        ORDER.add(text);
        size = value;
    }

    InitialiserBlocks(String name) {
        this(name, 3);
        String again = label + "!";
        ORDER.add(again);
    }

    InitialiserBlocks(String name, int times) {
        String joined = "";
        int count = 0;
        while (count < times) {
            joined += name + count;
            count++;
        }
        label = joined;
        ORDER.add(label);
    }

    private static int start() {
        ORDER.add("field");
        return 4;
    }

    String describe(Map<String, Integer> codes) {
        int total = size;
        String best = null;
        for (Map.Entry<String, Integer> entry : codes.entrySet()) {
            int value = entry.getValue();
            total += value;
            best = best != null && best.compareTo(entry.getKey()) > 0 ? best : entry.getKey();
        }
        return codes.isEmpty() ? "none" : label + total + best + label.indexOf("1");
    }

    public static void main(String[] arguments) {
        InitialiserBlocks made = new InitialiserBlocks("x");
        check(ORDER.toString(), "[static, field, block8, x0x1x2, x0x1x2!]");
        check(made.describe(CODES), "x0x1x230b3");
        check(made.describe(Map.of()), "none");
        check("" + key, "14");
        System.out.println(ORDER + " " + CODES);
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
