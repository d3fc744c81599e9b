import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/** Several exceptions in one clause, rethrown and nested. */
public class MultiCatch {
    static class Broken extends Exception {
        final int line;

        Broken(String text, int line, Throwable cause) {
            super(text, cause);
            this.line = line;
        }
    }

    static List<Integer> read(List<String> rows, Map<String, Integer> names) throws Broken {
        List<Integer> values = new ArrayList<>();
        int line = 0;
        for (String row : rows) {
            line++;
            try {
                int value = row.startsWith("$") ? names.get(row.substring(1)) : Integer.parseInt(row);
                int inverse = 100 / value;
                values.add(inverse);
            } catch (NumberFormatException | NullPointerException problem) {
                String key = problem.getClass().getSimpleName();
                throw new Broken(key, line, problem);
            } catch (ArithmeticException problem) {
                values.add(0);
            }
        }
        return values;
    }

    static String attempt(List<String> rows) {
        String outcome = "none";
        int tries = 0;
        try {
            tries++;
            outcome = read(rows, Map.of("x", 4)).toString();
        } catch (Broken problem) {
            Throwable cause = problem.getCause();
            outcome = problem.getMessage() + "@" + problem.line + (cause != null);
        }
        return outcome + tries;
    }

    static int nested(int depth) {
        int result = depth;
        int extra = 0;
        try {
            try {
                if (depth > 1) {
                    throw new NoSuchElementException("deep");
                }
                result += 10;
            } finally {
                extra = 5;
            }
        } catch (NoSuchElementException | IllegalStateException problem) {
            result = -problem.getMessage().length();
        }
        return result + extra;
    }

    public static void main(String[] arguments) {
        check(attempt(List.of("5", "$x", "0")), "[20, 25, 0]1");
        check(attempt(List.of("5", "y")), "NumberFormatException@2true1");
        check(attempt(List.of("$y")), "NullPointerException@1true1");
        check(attempt(List.of()), "[]1");
        check(nested(1) + "/" + nested(2), "16/1");
        System.out.println(attempt(List.of("7")) + "q?".indexOf("?"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
