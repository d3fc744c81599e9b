import java.util.ArrayList;
import java.util.List;

/** Interfaces with default, static and private methods, and diamonds between them. */
public class DefaultMethods {
    interface Named {
        String PREFIX = "named ";

        String name();

        default String greeting() {
            String key = PREFIX;
            String value = decorate(name());
            String text = key + value;
            return text;
        }

        private String decorate(String name) {
            String left = "<";
            String right = ">";
            String both = left + name + right;
            return both;
        }

        static Named of(String name) {
            return () -> name;
        }
    }

    interface Loud {
        default String greeting() {
            String word = "HEY";
            int times = 2;
            String text = word.repeat(times);
            return text;
        }
    }

    static class Person implements Named, Loud {
        private final List<String> friends = new ArrayList<>();

        public String name() {
            return "Ada";
        }

        @Override
        public String greeting() {
            String first = Named.super.greeting();
            String second = Loud.super.greeting();
            String joined = first + "/" + second;
            return joined;
        }

        String closest() {
            String none = null;
            String found = friends.isEmpty() ? none : friends.get(0);
            String shown = found != null ? found : "nobody";
            return shown.isEmpty() ? "?" : shown;
        }
    }

    public static void main(String[] arguments) {
        Person person = new Person();
        expect("named <Ada>/HEYHEY", person.greeting());
        expect("named <x>", Named.of("x").greeting());
        expect("nobody", person.closest());
        person.friends.add("Bob");
        expect("Bob", person.closest());
        System.out.println(person.greeting().indexOf("/") + person.closest());
    }

    static void expect(String wanted, String told) {
        if (!wanted.equals(told)) {
            throw new AssertionError(told);
        }
    }
}
