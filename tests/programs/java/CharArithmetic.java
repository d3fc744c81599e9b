import java.util.ArrayList;
import java.util.List;

/** Arithmetic with characters: ciphers, bases and run lengths. */
public class CharArithmetic {
    static String caesar(String text, int shift) {
        StringBuilder result = new StringBuilder();
        int size = 26;
        for (char letter : text.toCharArray()) {
            char base = Character.isUpperCase(letter) ? 'A' : 'a';
            if (Character.isLetter(letter)) {
                int moved = (letter - base + shift + size) % size;
                result.append((char) (base + moved));
            } else {
                result.append(letter);
            }
        }
        return result.toString();
    }

    static String runs(String text) {
        StringBuilder packed = new StringBuilder();
        int start = 0;
        int end = 0;
        while (start < text.length()) {
            char key = text.charAt(start);
            while (end < text.length() && text.charAt(end) == key) {
                end++;
            }
            int value = end - start;
            packed.append(key).append(value > 1 ? "" + value : "");
            start = end;
        }
        return packed.toString();
    }

    static int parse(String digits, int base) {
        int total = 0;
        int place = 0;
        for (char digit : digits.toLowerCase().toCharArray()) {
            int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
            total = total * base + value;
            place++;
        }
        return place == 0 ? -1 : total;
    }

    static List<String> columns(int count) {
        List<String> names = new ArrayList<>();
        int index = 0;
        while (names.isEmpty() || index < count) {
            String name = "";
            int rest = index;
            do {
                name = (char) ('A' + rest % 26) + name;
                rest = rest / 26 - 1;
            } while (rest >= 0);
            names.add(name);
            index++;
        }
        return names;
    }

    public static void main(String[] arguments) {
        check(caesar("Abz, Z!", 1), "Bca, A!");
        check(caesar(caesar("Secret", 5), -5), "Secret");
        check(runs("aaabcc"), "a3bc2");
        check("" + parse("ff", 16) + parse("", 2), "255-1");
        check(columns(28).get(27), "AB");
        System.out.println(columns(3) + runs("zzzz") + "a:b".indexOf(':'));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
