import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Streams with lambdas whose parameters are called like locals elsewhere. */
public class StreamsReport {
    record Sale(String region, String key, int value) {}

    static Map<String, Integer> totals(List<Sale> sales) {
        Map<String, Integer> result = new TreeMap<>();
        int least = 2;
        String skipped = "none";
        List<Sale> kept = sales.stream()
            .filter(sale -> sale.key() != null && !sale.key().equals(skipped))
            .filter(sale -> sale.value() >= least)
            .collect(Collectors.toList());
        kept.forEach(sale -> {
            String name = sale.region() + "/" + sale.key();
            int before = result.getOrDefault(name, 0);
            result.put(name, before + sale.value());
        });
        return kept.isEmpty() ? Map.of() : result;
    }

    static String ranked(List<Sale> sales) {
        Comparator<Sale> byValue = Comparator.comparingInt(Sale::value);
        String separator = " > ";
        int limit = 2;
        String text = sales.stream()
            .sorted(byValue.reversed().thenComparing(Sale::key))
            .limit(limit)
            .map(value -> value.key() + value.value())
            .collect(Collectors.joining(separator, "[", "]"));
        return text + text.indexOf(separator);
    }

    static List<int[]> triples(int limit) {
        List<int[]> found = new ArrayList<>();
        int key = 1;
        IntStream.rangeClosed(key, limit).forEach(a ->
            IntStream.rangeClosed(a, limit).forEach(b -> {
                int square = a * a + b * b;
                int c = (int) Math.sqrt(square);
                if (c * c == square && c <= limit) {
                    found.add(new int[] {a, b, c});
                }
            }));
        return found;
    }

    static int letters(String... words) {
        int total = Stream.of(words).mapToInt(String::length).sum();
        int longest = Stream.of(words).map(word -> word.length()).reduce(0, Math::max);
        int product = total * longest;
        return product;
    }

    public static void main(String[] arguments) {
        List<Sale> sales = List.of(new Sale("north", "tea", 5), new Sale("south", "ink", 1),
            new Sale("north", "tea", 4), new Sale("south", "none", 9));
        check(totals(sales).toString(), "{north/tea=9}");
        check(ranked(sales), "[none9 > tea5]6");
        check("" + triples(13).size(), "3");
        check("" + letters("a", "bcd"), "12");
        System.out.println(totals(sales) + ranked(sales));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
