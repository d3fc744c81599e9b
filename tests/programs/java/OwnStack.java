import java.util.ArrayList;

/** A class of our own that is called like one of the library, and has no size. */
public class OwnStack {
    static class Stack {
        private final ArrayList<String> items = new ArrayList<>();

        void push(String item) {
            items.add(item);
        }

        boolean isEmpty() {
            return items.size() < 1;
        }

        String pop() {
            int last = items.size() - 1;
            String value = items.get(last);
            items.remove(last);
            return value;
        }
    }

    static String reversed(String... words) {
        Stack stack = new Stack();
        StringBuilder text = new StringBuilder();
        int count = 0;
        for (String word : words) {
            if (word != null) {
                stack.push(word);
            }
        }
        while (!stack.isEmpty()) {
            String word = stack.pop();
            text.append(word);
            count++;
        }
        return text.toString() + count;
    }

    public static void main(String[] arguments) {
        check(reversed("a", null, "b"), "ba2");
        System.out.println(reversed("x", "y") + "-.".indexOf("."));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
