import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** isEmpty of collections, maps and strings in every position of an expression. */
public class EmptyChecks {
    private final List<String> rows = new ArrayList<>();
    private String text = "";

    static String flags(List<String> list, Set<Integer> set, Map<String, Integer> map, String text) {
        boolean key = list != null && list.isEmpty();
        boolean value = !set.isEmpty();
        String shown = "a" + map.isEmpty() + text.isEmpty();
        boolean same = list.isEmpty() == set.isEmpty();
        Object boxed = (Object) list.isEmpty();
        int number = list.isEmpty() ? set.isEmpty() ? 0 : 1 : 2;
        BooleanSupplier lazy = () -> list.isEmpty();
        Predicate<Collection<?>> each = Collection::isEmpty;
        boolean asked = lazy.getAsBoolean() & each.test(set) | map.isEmpty();
        return shown + key + value + same + boxed + number + asked;
    }

    int drain(List<Integer> waiting) {
        int total = 0;
        int rounds = 0;
        for (; !waiting.isEmpty(); rounds++) {
            int last = waiting.size() - 1;
            total += waiting.remove(last);
        }
        do {
            total++;
        } while (!rows.isEmpty() && total < 0);
        if (rows.isEmpty()) total += 100; else total = 0;
        return total * 10 + rounds;
    }

    String hidden(String rows) {
        String first = rows.isEmpty() ? "text" : rows;
        String second = this.rows.isEmpty() ? "list" : "filled";
        String third = text.isEmpty() + first;
        return third + second;
    }

    static <T extends Collection<String>> int weigh(T items, List<? extends Collection<Integer>> groups) {
        int weight = items.isEmpty() ? 0 : items.size();
        int empty = 0;
        for (Collection<Integer> group : groups) {
            empty += group.isEmpty() ? 1 : 0;
        }
        assert !groups.isEmpty() : "no groups";
        return weight * 10 + empty;
    }

    public static void main(String[] arguments) {
        Map<String, Integer> map = new TreeMap<>();
        Set<Integer> set = new HashSet<>();
        check(flags(List.of(), set, map, "x"), "atruefalsetruefalsetruetrue0true");
        set.add(1);
        map.put("a", 1);
        check(flags(List.of(), set, map, ""), "afalsetruetruetruefalsetrue1false");
        check("" + new EmptyChecks().drain(new ArrayList<>(List.of(1, 2))), "1042");
        check(new EmptyChecks().hidden(""), "truetextlist");
        check("" + weigh(List.of("a"), List.of(Set.of(), Set.of(1))), "11");
        System.out.println(flags(List.of("z"), set, map, "y") + "p.q".indexOf("."));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
