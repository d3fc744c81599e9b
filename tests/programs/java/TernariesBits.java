import java.util.List;

/** Ternaries, precedence, compound assignment, shifts and casts. */
public class TernariesBits {
    static String grade(int points, List<String> notes) {
        int key = points / 10;
        String value = key >= 9 ? "A" : key >= 7 ? "B" : key >= 5 ? "C" : "F";
        String note = notes.isEmpty() ? "-" : notes.get(0) != null ? notes.get(0) : "null";
        String state = "empty=" + notes.isEmpty() + !notes.isEmpty();
        return value + note + state + (notes.isEmpty() ? 1 : 0);
    }

    static int bits(int number) {
        int count = 0;
        int rest = number;
        int mask = 1;
        while (rest != 0) {
            count += rest & mask;
            rest >>>= 1;
        }
        int flipped = ~number & 0xFF;
        int shifted = number << 3 | number >> 1;
        return count * 1_000_000 + flipped * 1000 + shifted % 1000;
    }

    static long mixed(byte small, short medium) {
        small += 200;
        medium *= 2.5;
        int sum = small + medium;
        long large = sum * 1_000_000_000L;
        char letter = 'a';
        letter += 2;
        letter++;
        double half = sum / 2 + sum / 2.0;
        return large + letter + (long) half;
    }

    static boolean logic(String text, List<Integer> rows) {
        boolean first = text != null && text.length() > 2 || rows.isEmpty();
        boolean second = !rows.isEmpty() ^ (text != null);
        boolean third = first & !second | rows.isEmpty();
        boolean found = text != null && text.indexOf("x") != -1;
        return third == found;
    }

    public static void main(String[] arguments) {
        check(grade(95, List.of()), "A-empty=truefalse1");
        check(grade(72, List.of("good")), "Bgoodempty=falsetrue0");
        check("" + bits(10), "2245085");
        check("" + mixed((byte) 1, (short) 3), "-47999999948");
        check("" + logic("axe", List.of(1)) + logic("ab", List.of()), "truefalse");
        System.out.println(bits(255) + " " + mixed((byte) 7, (short) 9));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
