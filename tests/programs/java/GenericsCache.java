import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Generic classes and methods, bounds and wildcards, type parameters spelt like names. */
public class GenericsCache {
    static class Cache<K extends Comparable<K>, V> {
        private final Map<K, V> store = new LinkedHashMap<>();
        private final Function<? super K, ? extends V> loader;
        private int misses;

        Cache(Function<? super K, ? extends V> loader) {
            this.loader = loader;
        }

        V get(K key) {
            V value = store.get(key);
            V result = value;
            if (value != null) {
                return result;
            }
            result = loader.apply(key);
            store.put(key, result);
            misses++;
            return result;
        }

        List<K> keys() {
            List<K> found = new ArrayList<>(store.keySet());
            int size = found.size();
            Collections.sort(found);
            if (found.isEmpty() || size == 0) {
                return List.of();
            }
            return found;
        }
    }

    static <T> T best(List<? extends T> items, Comparator<? super T> order) {
        T key = null;
        int position = 0;
        for (T value : items) {
            boolean better = key == null || order.compare(value, key) > 0;
            key = better ? value : key;
            position++;
        }
        assert position == items.size();
        return key;
    }

    static <A, B> Map<B, List<A>> group(Iterable<A> items, Function<A, B> classify) {
        Map<B, List<A>> groups = new HashMap<>();
        int count = 0;
        for (A item : items) {
            B label = classify.apply(item);
            List<A> members = groups.computeIfAbsent(label, unused -> new ArrayList<>());
            members.add(item);
            count++;
        }
        return count > 0 ? groups : Map.of();
    }

    @SafeVarargs
    static <E> List<E> listOf(E... values) {
        List<E> made = new ArrayList<>();
        int index = 0;
        while (index < values.length) {
            E value = values[index++];
            made.add(value);
        }
        return made;
    }

    public static void main(String[] arguments) {
        Cache<String, Integer> cache = new Cache<>(String::length);
        check(cache.keys().isEmpty());
        check(cache.get("four") == 4 && cache.get("two") == 3 && cache.get("four") == 4);
        check(cache.misses == 2 && cache.keys().equals(List.of("four", "two")));
        check(best(listOf(3, 9, 4), Comparator.<Integer>naturalOrder()) == 9);
        Map<Integer, List<String>> groups = group(listOf("a", "bb", "c"), text -> text.length());
        check(groups.get(1).equals(List.of("a", "c")));
        System.out.println(groups.get(2) + "k=v".substring("k=v".indexOf("=")));
    }

    static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
