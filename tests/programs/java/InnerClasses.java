import java.util.ArrayList;
import java.util.List;

/** Inner classes with Outer.this, shadowed fields at several levels, and static nested ones. */
public class InnerClasses {
    private String value = "outer";
    private final List<String> log = new ArrayList<>();

    class Inner {
        private String value = "inner";

        class Deepest {
            private String value = "deepest";

            String all(String suffix) {
                String key = value;
                String middle = Inner.this.value;
                String far = InnerClasses.this.value;
                String joined = key + " " + middle + " " + far + suffix;
                log.add(joined);
                return joined;
            }

            String local() {
                String value = "local";
                String other = this.value;
                String both = value + other;
                value = both + value.length();
                return value;
            }
        }
    }

    static class Pair<A, B> {
        final A key;
        final B value;

        Pair(A key, B value) {
            this.key = key;
            this.value = value;
        }

        Pair<B, A> swapped() {
            A first = key;
            B second = value;
            Pair<B, A> result = new Pair<>(second, first);
            return result;
        }

        @Override
        public String toString() {
            String left = "(" + key;
            String right = value != null ? value + ")" : "?)";
            String text = left + "," + right;
            return text;
        }
    }

    public static void main(String[] arguments) {
        InnerClasses outer = new InnerClasses();
        InnerClasses.Inner inner = outer.new Inner();
        InnerClasses.Inner.Deepest deepest = inner.new Deepest();
        expect("deepest inner outer!", deepest.all("!"));
        expect("localdeepest5", deepest.local());
        expect("(1,a)", new Pair<>("a", 1).swapped().toString());
        expect("(null,x)", new Pair<>("x", null).swapped().toString());
        expect("1", String.valueOf(outer.log.size()));
        System.out.println(outer.log + " " + outer.log.isEmpty() + outer.value.indexOf("t"));
    }

    static void expect(String wanted, String told) {
        if (!wanted.equals(told)) {
            throw new AssertionError(told);
        }
    }
}
