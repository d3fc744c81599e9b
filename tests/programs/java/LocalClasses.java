import java.util.ArrayDeque;
import java.util.Deque;

/** Local classes, records, enums and interfaces inside of methods. */
public class LocalClasses {
    static String calculate(String expression) {
        String key = "result";
        Deque<Integer> stack = new ArrayDeque<>();
        int steps = 0;
        enum Kind { NUMBER, SIGN }
        record Token(Kind kind, String text) {
            int value() {
                int parsed = Integer.parseInt(text);
                return parsed;
            }
        }
        interface Rule {
            int apply(int left, int right);
        }
        class Machine {
            int count = 0;

            void push(Token token) {
                count++;
                if (token.kind() == Kind.NUMBER) {
                    stack.push(token.value());
                    return;
                }
                int right = stack.pop();
                int left = stack.pop();
                Rule rule = switch (token.text()) {
                    case "+" -> (a, b) -> a + b;
                    case "-" -> (a, b) -> a - b;
                    default -> (a, b) -> a * b;
                };
                stack.push(rule.apply(left, right));
            }
        }
        Machine machine = new Machine();
        for (String part : expression.split(" ")) {
            boolean digit = Character.isDigit(part.charAt(0));
            Token token = new Token(digit ? Kind.NUMBER : Kind.SIGN, part);
            machine.push(token);
            steps++;
        }
        boolean ready = stack.peek() != null;
        int outcome = stack.pop();
        boolean empty = stack.isEmpty();
        return key + outcome + "/" + steps + "/" + machine.count + ready + empty;
    }

    static int nested(int size) {
        int total = 0;
        int factor = 2;
        class Adder {
            int add(int value) {
                class Doubler {
                    int apply(int number) {
                        int doubled = number * factor;
                        return doubled;
                    }
                }
                Doubler doubler = new Doubler();
                int result = doubler.apply(value);
                return result;
            }
        }
        for (int index = 0; index < size; index++) {
            int added = new Adder().add(index);
            total += added;
        }
        return total;
    }

    public static void main(String[] arguments) {
        String told = calculate("3 4 + 2 * 5 -");
        if (!told.equals("result9/7/7truetrue")) {
            throw new AssertionError(told);
        }
        if (nested(4) != 12) {
            throw new AssertionError(nested(4));
        }
        System.out.println(told + nested(5) + told.indexOf("/"));
    }
}
