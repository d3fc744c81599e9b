import java.util.ArrayList;
import java.util.List;

/** try with resources, suppressed exceptions, finally, and variables with the same name in each. */
public class TryResources {
    static final List<String> LOG = new ArrayList<>();
    private static String value = "field";

    static class Handle implements AutoCloseable {
        final String name;

        Handle(String name) {
            this.name = name;
            LOG.add("open " + name);
        }

        @Override
        public void close() {
            LOG.add("close " + name);
            if (name.isEmpty()) {
                throw new IllegalStateException("closing");
            }
        }
    }

    static int use(String first, String second) {
        int key = 0;
        int size = 1;
        try (Handle one = new Handle(first); Handle two = new Handle(second + one.name)) {
            String value = one.name + two.name;
            key = value.length();
            size += key;
        } finally {
            String value = TryResources.value;
            LOG.add(value + key);
        }
        return size;
    }

    static String suppressed() {
        String told = "";
        int count = 0;
        Handle outer = new Handle("");
        try (outer; Handle inner = new Handle("inner")) {
            String text = inner.name;
            throw new IllegalArgumentException(text);
        } catch (IllegalArgumentException problem) {
            Throwable hidden = problem.getSuppressed()[0];
            told = problem.getMessage() + "+" + hidden.getMessage();
            count++;
        }
        return told + count;
    }

    static int order() {
        int result = 1;
        int step = 10;
        try {
            result += step;
            return result;
        } finally {
            result = step * step;
            LOG.add("finally " + result);
        }
    }

    public static void main(String[] arguments) {
        check("" + use("a", "b"), "4");
        check(suppressed(), "inner+closing1");
        check("" + order(), "11");
        check(LOG.toString(), "[open a, open ba, close ba, close a, field3, open , open inner,"
            + " close inner, close , finally 100]");
        System.out.println(LOG.isEmpty() + " " + LOG.get(0).indexOf(" ") + (LOG != null));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
