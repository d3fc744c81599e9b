import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Collections, streams, lambdas and generics; many fields are spelt like locals elsewhere. */
public class Inventory<T extends Comparable<T>> {
    private final Map<String, List<T>> items = new HashMap<>();
    private int count;
    private String name;
    protected T best;

    public Inventory(String name, int count) {
        this.name = name;
        this.count = count;
    }

    public Inventory() {
        this("default", 0);
    }

    public void add(String key, T value) {
        List<T> list = items.get(key);
        if (list == null) {
            list = new ArrayList<>();
            items.put(key, list);
        }
        list.add(value);
        int count = list.size();
        this.count += count;
    }

    public T max(String key) {
        T best = null;
        for (T item : items.getOrDefault(key, new ArrayList<T>())) {
            if (best == null || item.compareTo(best) > 0) {
                best = item;
            }
        }
        return best == null ? this.best : best;
    }

    public Map<String, Integer> sizes() {
        Map<String, Integer> result = new HashMap<>();
        for (Map.Entry<String, List<T>> entry : items.entrySet()) {
            String key = entry.getKey();
            int size = entry.getValue().size();
            result.merge(key, size, (left, right) -> left + right);
        }
        for (String key : new ArrayList<>(result.keySet())) {
            result.computeIfPresent(key, (name, size) -> size > count ? size : null);
        }
        return result;
    }

    public <K> Map<K, List<T>> group(Function<? super T, ? extends K> by, T... extra) {
        List<T> all = new ArrayList<>();
        items.values().forEach(all::addAll);
        for (int i = 0; i < extra.length; i++) all.add(extra[i]);
        for (int i = extra.length - 1, j = 0; i > j; i--, j++) {
            T swap = extra[i];
            extra[i] = extra[j];
            extra[j] = swap;
        }
        return all.stream().collect(Collectors.groupingBy(by));
    }

    public Supplier<String> describe(final String prefix) {
        StringBuilder text = new StringBuilder(prefix);
        items.forEach((key, list) -> {
            int count = 0;
            for (T item : list) {
                count++;
                text.append(key).append('=').append(item).append(count);
            }
        });
        String total = "total";
        String joined = text + total + count;
        return () -> joined + name;
    }

    public Optional<T> find(String key, T wanted) {
        Comparator<T> order = Comparator.naturalOrder();
        BiFunction<T, T, Boolean> same = (a, b) -> order.compare(a, b) == 0;
        for (var candidate : items.get(key)) {
            var found = same.apply(candidate, wanted);
            if (found) return Optional.of(candidate);
        }
        return Optional.<T>empty();
    }

    public static int depth(Object[] nest) {
        int depth = 0;
        outer:
        for (Object inner : nest) {
            int[] path = {0, 1, depth}, other[] = {path};
            for (int step : path) {
                if (step > depth) continue outer;
                if (step < 0) break outer;
            }
            depth = Math.max(depth, inner instanceof Object[] ? depth((Object[]) inner) : other.length);
        }
        return depth;
    }
}
