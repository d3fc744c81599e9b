import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A tokeniser and a recursive parser with state in fields. */
public class Tokeniser {
    private final List<String> tokens = new ArrayList<>();
    private final Map<String, Integer> variables = new HashMap<>();
    private int position = 0;

    Tokeniser(String text) {
        StringBuilder word = new StringBuilder();
        String signs = "+-*/()=";
        for (char letter : (text + " ").toCharArray()) {
            boolean sign = signs.indexOf(letter) >= 0;
            if (sign || letter == ' ') {
                if (word.length() > 0) {
                    tokens.add(word.toString());
                }
                word.setLength(0);
                if (sign) {
                    tokens.add("" + letter);
                }
            } else {
                word.append(letter);
            }
        }
    }

    String peek() {
        return position < tokens.size() ? tokens.get(position) : null;
    }

    int sum() {
        int value = product();
        String sign = peek();
        while (sign != null && (sign.equals("+") || sign.equals("-"))) {
            position++;
            int right = product();
            value = sign.equals("+") ? value + right : value - right;
            sign = peek();
        }
        return value;
    }

    int product() {
        int value = atom();
        String sign = peek();
        while (sign != null && "*/".contains(sign)) {
            position++;
            int right = atom();
            int before = value;
            value = "*".equals(sign) ? before * right : before / right;
            sign = peek();
        }
        return value;
    }

    int atom() {
        String key = tokens.get(position++);
        int value;
        if (key.equals("(")) {
            value = sum();
            position++;
        } else if (key.equals("-")) {
            value = -atom();
        } else if (Character.isDigit(key.charAt(0))) {
            value = Integer.parseInt(key);
        } else if (peek() != null && peek().equals("=")) {
            position++;
            value = sum();
            variables.put(key, value);
        } else {
            Integer known = variables.get(key);
            value = known != null ? known : 0;
        }
        return value;
    }

    String report() {
        String state = variables.isEmpty() ? "nothing" : variables.toString();
        int left = tokens.size() - position;
        String text = state + " " + left;
        return text;
    }

    public static void main(String[] arguments) {
        check("" + new Tokeniser("2 + 3*(4-1)").sum(), "11");
        Tokeniser assigned = new Tokeniser("x = 4 * -2");
        check("" + assigned.sum(), "-8");
        check(assigned.report(), "{x=-8} 0");
        check(new Tokeniser("").report(), "nothing 0");
        System.out.println(assigned.report() + new Tokeniser("8/2/2").sum());
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
