import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Lambdas that capture variables which never change. */
public class LambdaCapture {
    private static int factor = 3;

    static List<Supplier<String>> suppliers(List<String> names) {
        List<Supplier<String>> made = new ArrayList<>();
        String key = "name";
        int position = 0;
        for (String name : names) {
            int value = position * factor;
            String label = name != null ? name : "none";
            made.add(() -> key + ":" + label + "/" + value);
            position++;
        }
        return made;
    }

    static Function<Integer, Integer> compose(int first, int second) {
        int total = first + second;
        Function<Integer, Integer> add = number -> number + total;
        Function<Integer, Integer> scale = number -> {
            int product = number * factor;
            int shifted = product - first;
            return shifted;
        };
        return add.andThen(scale);
    }

    static String join(List<String> parts) {
        StringBuilder text = new StringBuilder();
        String separator = "";
        if (parts.isEmpty()) {
            return "empty";
        }
        for (String part : parts) {
            text.append(separator).append(part);
            separator = ", ";
        }
        return text.append(".").toString() + text.indexOf(",");
    }

    public static void main(String[] arguments) {
        List<String> names = new ArrayList<>(List.of("a", "b"));
        names.add(null);
        List<String> told = new ArrayList<>();
        for (Supplier<String> each : suppliers(names)) {
            told.add(each.get());
        }
        check(told.equals(List.of("name:a/0", "name:b/3", "name:none/6")));
        check(compose(1, 2).apply(4) == 20);
        check(join(told).endsWith(".8"));
        check(join(new ArrayList<>()).equals("empty"));
        System.out.println(join(told));
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
