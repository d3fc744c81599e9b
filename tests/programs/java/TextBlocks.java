import java.util.ArrayList;
import java.util.List;

/** Text blocks and strings that contain names, quotes, braces and escapes. */
public class TextBlocks {
    static final String TEMPLATE = """
        Dear {name},
          key = "{key}"
        value\tis {value} \
        and more
        """;

    static String fill(String name, int amount) {
        String key = "k" + amount;
        String value = "\"" + amount * 2 + "\"";
        String text = TEMPLATE.replace("{name}", name);
        text = text.replace("{key}", key).replace("{value}", value);
        return text;
    }

    static List<Integer> places(String text, String wanted) {
        List<Integer> found = new ArrayList<>();
        int start = text.indexOf(wanted);
        int length = wanted.length();
        while (start >= 0) {
            found.add(start);
            start = text.indexOf(wanted, start + length);
        }
        return found;
    }

    static String markup(List<String> rows) {
        StringBuilder page = new StringBuilder();
        String open = """
            <ul>
            """;
        String close = "</ul>";
        page.append(open);
        for (String row : rows) {
            String line = "  <li>%s</li>\n".formatted(row);
            page.append(line);
        }
        if (rows.isEmpty() || rows.get(0) != null) {
            page.append("<!-- " + rows.size() + " -->");
        }
        return page.append(close).toString();
    }

    static boolean identities() {
        String first = "same";
        String second = "same";
        String third = "sa" + "me";
        final String half = "sa";
        boolean folded = first == third && first == half + "me";
        boolean equal = "same".equals(new String("same"));
        return first == second && folded && equal && "same" == first.intern();
    }

    public static void main(String[] arguments) {
        check(fill("Ada", 4), "Dear Ada,\n  key = \"k4\"\nvalue\tis \"8\" and more\n");
        check(places("abcabc", "bc").toString(), "[1, 4]");
        check(markup(List.of("x")), "<ul>\n  <li>x</li>\n<!-- 1 --></ul>");
        check("" + identities(), "true");
        System.out.println(markup(List.of("a", "b")));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
