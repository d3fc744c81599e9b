import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.NoSuchElementException;
import java.util.Queue;

/** Iterators by hand, removal while iterating, and trees walked without recursion. */
public class OwnIterators {
    static class Node {
        final int key;
        Node left;
        Node right;

        Node(int key) {
            this.key = key;
        }

        void add(int value) {
            Node current = this;
            Node parent = null;
            while (current != null) {
                parent = current;
                current = value < current.key ? current.left : current.right;
            }
            Node made = new Node(value);
            if (value < parent.key) {
                parent.left = made;
            } else {
                parent.right = made;
            }
        }
    }

    static class Tree implements Iterable<Integer> {
        private final Node root;

        Tree(int... keys) {
            Node first = new Node(keys[0]);
            for (int index = 1; index < keys.length; index++) {
                int key = keys[index];
                first.add(key);
            }
            root = first;
        }

        @Override
        public Iterator<Integer> iterator() {
            Queue<Integer> waiting = new LinkedList<>();
            fill(root, waiting);
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return !waiting.isEmpty();
                }

                @Override
                public Integer next() {
                    Integer value = waiting.poll();
                    if (value == null) {
                        throw new NoSuchElementException();
                    }
                    return value;
                }
            };
        }

        private void fill(Node node, Queue<Integer> waiting) {
            if (node != null) {
                fill(node.left, waiting);
                waiting.add(node.key);
                fill(node.right, waiting);
            }
        }
    }

    static List<Integer> filter(Iterable<Integer> source, int divisor) {
        List<Integer> kept = new ArrayList<>();
        int removed = 0;
        for (int value : source) {
            kept.add(value);
        }
        for (Iterator<Integer> iterator = kept.iterator(); iterator.hasNext(); ) {
            int value = iterator.next();
            if (value % divisor == 0) {
                iterator.remove();
                removed++;
            }
        }
        for (ListIterator<Integer> cursor = kept.listIterator(); cursor.hasNext(); ) {
            int value = cursor.next();
            cursor.set(value * 10 + removed);
        }
        return kept;
    }

    public static void main(String[] arguments) {
        List<Integer> kept = filter(new Tree(5, 2, 8, 1, 9, 4), 2);
        if (!kept.equals(List.of(13, 53, 93))) {
            throw new AssertionError(kept);
        }
        System.out.println(kept + " " + kept.isEmpty() + "a b".indexOf(" "));
    }
}
