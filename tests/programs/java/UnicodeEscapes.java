import java.util.ArrayList;
import java.util.List;

/** The compiler reads escapes before everything else: code may be written with them. */
public class UnicodeEscapes {
    static String mixed(int amount) {
        String key = "k";
        int value = amount;
        /* the comment ends here \u002a\u002f value += 2; /* and another one */
        int other = value + 1;
        String text = key + value + "\u0041quoted";
        return text + other;
    }

    static int comment(int start) {
        int total = start;
        int step = 2;
        // the next word is code: \u000a total += step;
        int result = total * 10;
        return result;
    }

    static List<String> plain(String text) {
        List<String> parts = new ArrayList<>();
        int middle = text.indexOf("-");
        String left = middle >= 0 ? text.substring(0, middle) : text;
        String right = "\\u0041";
        parts.add(left);
        if (!parts.isEmpty() && right != null) {
            parts.add(right);
        }
        return parts;
    }

    public static void main(String[] arguments) {
        check(mixed(3), "k5Aquoted6");
        check("" + comment(1), "30");
        check(plain("a-b").toString(), "[a, \\u0041]");
        System.out.println(mixed(1) + plain("x"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
