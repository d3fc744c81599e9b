import java.util.ArrayList;
import java.util.List;

/** Größen: names and strings beyond ASCII, and characters of two units. */
public class UnicodeNames {
    static String fläche(int länge, int breite) {
        int größe = länge * breite;
        String key = "Fläche";
        String einheit = "m²";
        String text = key + ": " + größe + " " + einheit;
        return text;
    }

    static List<Integer> points(String text) {
        List<Integer> found = new ArrayList<>();
        int index = 0;
        int pairs = 0;
        while (index < text.length()) {
            int point = text.codePointAt(index);
            int units = Character.charCount(point);
            pairs += units - 1;
            found.add(point);
            index += units;
        }
        found.add(pairs);
        return found;
    }

    static String greet(String name) {
        String grüße = "Grüß Gott";
        String κλειδί = grüße + ", " + name;
        int position = κλειδί.indexOf("ß");
        int emoji = "🎉!".length();
        String shown = name != null && !name.isEmpty() ? κλειδί : "?";
        return shown + position + emoji;
    }

    static int dollars(int $amount, int _rest) {
        int $ = $amount;
        int value = $ + _rest;
        int total_sum = value * 2;
        return total_sum;
    }

    public static void main(String[] arguments) {
        check(fläche(2, 3), "Fläche: 6 m²");
        check(points("a🎉").toString(), "[97, 127881, 1]");
        check(greet("Zoë"), "Grüß Gott, Zoë33");
        check("" + dollars(1, 2), "6");
        System.out.println(points("ñ") + greet("x") + points("").isEmpty());
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
