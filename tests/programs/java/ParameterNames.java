import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Reflection: names of parameters, fields and annotations are part of what the program does. */
public class ParameterNames {
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface From {
        String value();
    }

    static String order(String key, int amount, @From("unit price") int price) {
        int total = amount * price;
        String currency = "EUR";
        String text = key + " " + total + currency;
        return text;
    }

    static class Handler {
        private String name = "handler";
        private int size = 3;

        Handler(String name) {
            String trimmed = name.trim();
            this.name = trimmed;
        }

        String handle(String first, String... rest) {
            int count = rest.length;
            String label = name + count;
            String joined = first + label;
            return joined;
        }
    }

    static Object call(Class<?> owner, String method, Map<String, Object> values) throws Exception {
        Method found = null;
        List<Object> given = new ArrayList<>();
        for (Method each : owner.getDeclaredMethods()) {
            found = each.getName().equals(method) ? each : found;
        }
        for (Parameter parameter : found.getParameters()) {
            From from = parameter.getAnnotation(From.class);
            String name = from != null ? from.value() : parameter.getName();
            given.add(values.get(name));
        }
        return found.invoke(null, given.toArray());
    }

    static String fields(Object target) throws Exception {
        Field[] all = target.getClass().getDeclaredFields();
        Arrays.sort(all, Comparator.comparing(Field::getName));
        StringBuilder text = new StringBuilder();
        for (Field field : all) {
            String name = field.getName();
            Object value = field.get(target);
            text.append(name).append("=").append(value).append(";");
        }
        return text.toString();
    }

    public static void main(String[] arguments) throws Exception {
        Object told = call(ParameterNames.class, "order", Map.of("key", "tea", "amount", 3, "unit price", 4));
        check(told.toString(), "tea 12EUR");
        Constructor<?> constructor = Handler.class.getDeclaredConstructors()[0];
        Parameter[] parameters = constructor.getParameters();
        check(parameters[parameters.length - 1].getName(), "name");
        check(fields(new Handler(" x ")), "name=x;size=3;");
        check(new Handler("h").handle("a", "b"), "ah1");
        System.out.println(told + fields(new Handler("y")) + "k=v".indexOf("="));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
