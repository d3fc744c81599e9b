import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;

/** Anonymous classes that capture locals and have fields of the same name. */
public class AnonymousClasses {
    interface Visitor {
        void visit(String value);
    }

    static class Base {
        protected String keyValue = "inherited";
        protected int count = 100;
    }

    static List<String> walk(List<String> values) {
        String key = "key";
        String value = "value";
        List<String> seen = new ArrayList<>();
        int limit = values.size();
        Visitor visitor = new Visitor() {
            private int count = 0;

            @Override
            public void visit(String value) {
                count++;
                String text = key + count + value;
                if (count <= limit && value != null) {
                    seen.add(text);
                }
            }
        };
        for (String each : values) {
            visitor.visit(each);
        }
        seen.add(value);
        return seen;
    }

    static String inherited(int amount) {
        String key = "local";
        int value = amount;
        int other = amount + 1;
        Base base = new Base() {
            @Override
            public String toString() {
                String text = keyValue + count;
                return text + key + other;
            }
        };
        return base + ":" + value;
    }

    static Iterable<Integer> upTo(int stop) {
        int start = 1;
        int step = 2;
        return () -> new Iterator<Integer>() {
            int current = start;

            public boolean hasNext() {
                return current <= stop;
            }

            public Integer next() {
                int result = current;
                current += step;
                return result;
            }
        };
    }

    public static void main(String[] arguments) {
        List<String> seen = walk(List.of("x", "y"));
        check(seen.equals(List.of("key1x", "key2y", "value")), seen);
        check(inherited(4).equals("inherited100local5:4"), inherited(4));
        List<Integer> odd = new ArrayList<>();
        for (int number : upTo(6)) {
            odd.add(number);
        }
        check(!odd.isEmpty() && odd.equals(List.of(1, 3, 5)), odd);
        List<String> words = new ArrayList<>(List.of("ccc", "a", "bb"));
        words.sort(new Comparator<String>() {
            public int compare(String left, String right) {
                int first = left.length();
                int second = right.length();
                int order = first - second;
                return order;
            }
        });
        System.out.println(words + " at " + "a,b".indexOf(","));
        check(words.get(0).equals("a"), words);
    }

    static void check(boolean holds, Object shown) {
        if (!holds) {
            throw new AssertionError(shown);
        }
    }
}
