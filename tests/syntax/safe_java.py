"""Java programs that try to see a renamed local or a rewriting: what they print must not change.

`around` has a § where the snippet goes; the whole is a class `Main` with a method `String go()`.
"""

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Program:
    name: str
    around: str
    snippet: str

    def whole(self, number: int, snippet: str | None = None) -> str:
        code = self.around.replace("§", self.snippet if snippet is None else snippet)
        return f"package p{number};\nimport java.util.function.*;\n{code}"


def _program(name: str, snippet: str, around: str = "public class Main { § }") -> Program:
    return Program(name, dedent(around).strip(), dedent(snippet).strip())


PROGRAMS = [
    _program(
        "fields, members and labels of the same name",
        """
        public static String go() {
            int first = 1;
            int count = first + 1;
            count: while (true) {
                Main.count += count;
                if (Main.count > 5) break count;
            }
            { int total = count; count += total; }
            { String total = "t" + count; Main.last = total; }
            return first + ":" + count + ":" + Main.count + ":" + last + ":" + count();
        }
        """,
        """
        public class Main {
            static int count;
            static String last, total = "field";
            static int count() { return 7; }
            §
        }
        """,
    ),
    _program(
        "lambdas, method references and effectively final locals",
        """
        public static String go() {
            int first = 1;
            int second = first + 1;
            Function<Integer, Integer> add = value -> { int inner = value + second; return inner; };
            Supplier<String> text = () -> "s" + second + add.apply(second);
            Function<String, Integer> size = String::length;
            return text.get() + size.apply(text.get()) + first;
        }
        """,
    ),
    _program(
        "anonymous and local classes that capture",
        """
        public static String go() {
            int first = 1;
            int value = first + 1;
            int other = value + 1;
            class Box { int value = other; int get() { return value + other; } }
            Supplier<Integer> supplier = new Base() {
                public Integer get() { return value + super.value + other; }
            };
            return "" + new Box().get() + supplier.get() + value;
        }
        """,
        """
        public class Main {
            static abstract class Base implements Supplier<Integer> {
                int value = 40, otherValue = 9;
            }
            §
        }
        """,
    ),
    _program(
        "local records, enums and interfaces",
        """
        public static String go() {
            int width = 2;
            int height = width + 1;
            record Area(int width, int height) { int size() { return width * height; } }
            enum Kind { width, height }
            interface Named { default String name() { return "width"; } }
            Area area = new Area(width, height);
            Kind kind = Kind.valueOf("height");
            return area + " " + area.size() + kind + new Named() { }.name();
        }
        """,
    ),
    _program(
        "resources, exceptions and several catches",
        """
        public static String go() {
            StringBuilder log = new StringBuilder();
            String stream = "outer";
            int steps = 0;
            try (Res first = new Res(log, "a"); Res second = new Res(log, "b")) {
                steps += first.name.length() + second.name.length();
                throw new IllegalStateException("x");
            } catch (IllegalStateException | IllegalArgumentException problem) {
                log.append(problem.getMessage()).append(stream);
            } finally {
                int problem = 3;
                steps += problem;
            }
            return log.toString() + steps;
        }
        """,
        """
        public class Main {
            static class Res implements AutoCloseable {
                final StringBuilder log; final String name;
                Res(StringBuilder log, String name) { this.log = log; this.name = name; }
                public void close() { log.append("close ").append(name); }
            }
            §
        }
        """,
    ),
    _program(
        "patterns whose scope follows the flow",
        """
        public static String go() {
            Object value = "text";
            int length = 1;
            if (!(value instanceof String text)) { return "none"; }
            length += text.length();
            if (value instanceof String other && other.length() > 2) { length += other.length(); }
            return text + length;
        }
        """,
        'public class Main { static String text = "field", other = "field"; § }',
    ),
    _program(
        "switches old and new",
        """
        public static String go() {
            int kind = 2;
            final int two = 2;
            String found = "";
            switch (kind) {
                case 1: int shared = 5; break;
                case two: shared = 6; found += shared;
                default: found += "d";
            }
            String word = switch (kind) {
                case two -> { String part = "p"; yield part + found; }
                default -> "q";
            };
            Colour colour = Colour.RED;
            int RED = 4;
            switch (colour) { case RED: found += RED; break; default: }
            return found + word;
        }
        """,
        "public class Main { enum Colour { RED, GREEN } § }",
    ),
    _program(
        "names in strings, text blocks and reflection",
        '''
        public static String go() throws Exception {
            int size = 3;
            String text = """
                size and text
                """;
            Object field = Main.class.getDeclaredField("total").get(null);
            int total = size + text.length();
            return String.format("size=%d text=%s", total, text.trim()) + field;
        }
        ''',
        "public class Main { static int total = 9; § }",
    ),
    _program(
        "names of parameters that reflection shows",
        """
        public static String go() throws Exception {
            StringBuilder names = new StringBuilder();
            for (java.lang.reflect.Method method : Main.class.getDeclaredMethods()) {
                if (method.getName().equals("take")) {
                    for (java.lang.reflect.Parameter each : method.getParameters()) {
                        names.append(each.getName());
                    }
                }
            }
            return names.toString();
        }
        static int take(int first, int second) {
            int third = first + second;
            int fourth = third;
            return fourth;
        }
        """,
    ),
    _program(
        "loops, arrays, var and shadowed fields",
        """
        public static String go() {
            var rows = new int[][] {{1, 2}, {3}};
            int sum = 0, count[] = {0, 0};
            for (int i = 0, j = 9; i < rows.length; i++, j--) {
                sum += rows[i][0] * j;
                count[i] += i;
            }
            for (var row : rows) for (int cell : row) sum += cell;
            for (int i : count) { sum += i; }
            do { int once = sum; sum -= once / 2; } while (sum > 40);
            this_is: for (;;) { break this_is; }
            return sum + ":" + Main.sum + count[1];
        }
        """,
        "public class Main { static int sum = 5, i = 6; § }",
    ),
    _program(
        "a method in an anonymous class of its own",
        """
        public static String go() {
            int first = 1;
            int second = 2;
            Object shown = new Object() {
                int hidden = first;
                @Override public String toString() {
                    int first = 5;
                    int last = first + hidden;
                    return "" + first + last + second;
                }
            };
            return shown.toString();
        }
        """,
    ),
    _program(
        "a list of its own without size",
        """
        public static String go() {
            List rows = new List();
            String name = "a";
            if (name != null) { return rows.isEmpty() + name; }
            return name;
        }
        """,
        "class List { boolean isEmpty() { return true; } }\npublic class Main { § }",
    ),
    _program(
        "a queue whose size is its room",
        """
        public static String go() {
            Queue<String> jobs = new Queue<>();
            Object name = "a";
            return name != null ? "" + jobs.isEmpty() : "";
        }
        """,
        """
        class Queue<T> { int size() { return 16; } boolean isEmpty() { return true; } }
        public class Main { § }
        """,
    ),
    _program(
        "an inherited field of another type than the local",
        """
        String first(java.util.List<String> rows) { return rows.isEmpty() ? "none" : rows.get(0); }
        String second(Object name) { return name != null ? "" + rows.isEmpty() : ""; }
        """,
        """
        class Rows { boolean isEmpty() { return false; } }
        class Base { Rows rows = new Rows(); }
        public class Main extends Base {
            §
            public static String go() { return new Main().second("x"); }
        }
        """,
    ),
    _program(
        "a name that is no String",
        """
        public static String go() {
            Name who = new Name();
            String kind = "a";
            if (kind.equals("a")) {
                return "" + who.getName().indexOf("a") + who.getName().equals("b");
            }
            return "no" + who.getText();
        }
        """,
        """
        class Name {
            static final Object KEY = "b";
            Name getName() { return this; }
            int getText() { return 1; }
            int indexOf(Object text) { return 4; }
            @Override public boolean equals(Object other) { return other == KEY; }
            @Override public int hashCode() { return 1; }
        }
        public class Main { § }
        """,
    ),
    _program(
        "identity of literals",
        """
        public static String go() {
            String text = "some text";
            final String same = "some text";
            String part = "some " + "text";
            boolean is = text == same && part == text;
            synchronized ("lock") { is &= Thread.holdsLock("lock"); }
            int at = ("a" + part).indexOf("s");
            return "is " + is + text.indexOf("t") + at + text.contains("some");
        }
        """,
    ),
    _program(
        "a constant in an annotation and in a case",
        """
        public static String go() {
            final String name = "one";
            final String joined = name + "two";
            @SuppressWarnings({"unused", name}) int spare = 1;
            switch ("onetwo") {
                case joined: return "found" + spare + Strings.of(name);
                default: return "lost";
            }
        }
        """,
        """
        class Strings { static String of(Object text) { return text == "one" ? "same" : "other"; } }
        public class Main { § }
        """,
    ),
]
