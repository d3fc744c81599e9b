import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/** A collection that is never empty and has no size. */
public class EndlessNumbers {
    static class Endless extends AbstractCollection<Integer> {
        @Override
        public Iterator<Integer> iterator() {
            return new Iterator<>() {
                private int current = 0;

                public boolean hasNext() {
                    return true;
                }

                public Integer next() {
                    return current++;
                }
            };
        }

        @Override
        public int size() {
            throw new UnsupportedOperationException("endless");
        }

        @Override
        public boolean isEmpty() {
            return false;
        }
    }

    static List<Integer> take(Collection<Integer> numbers, int limit) {
        List<Integer> taken = new ArrayList<>();
        int total = 0;
        if (numbers != null && numbers.isEmpty()) {
            return taken;
        }
        for (int number : numbers) {
            if (total >= limit) {
                break;
            }
            taken.add(number);
            total += number;
        }
        return taken;
    }

    static String last(List<Integer> taken) {
        Integer value = taken.isEmpty() ? null : taken.get(taken.size() - 1);
        String text = value != null ? "last=" + value : "none";
        int place = text.indexOf("=");
        return text.substring(place + 1);
    }

    public static void main(String[] arguments) {
        List<Integer> taken = take(new Endless(), 5);
        check(taken.toString(), "[0, 1, 2, 3]");
        check(take(List.of(), 5).toString(), "[]");
        check(last(taken) + last(List.of()), "3none");
        System.out.println(taken);
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
