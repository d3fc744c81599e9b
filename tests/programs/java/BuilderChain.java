import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A builder with chained calls, fields called like parameters, and explicit constructor calls. */
public class BuilderChain {
    private final String key;
    private final Map<String, String> options;
    private final List<String> parts;

    private BuilderChain(String key, Map<String, String> options, List<String> parts) {
        this.key = key;
        this.options = options;
        this.parts = parts;
    }

    static class Builder {
        private String key = "default";
        private final Map<String, String> options = new LinkedHashMap<>();
        private final List<String> parts = new ArrayList<>();

        Builder() {
            this("start".indexOf("a") + "st");
            String first = "made";
            parts.add(first);
        }

        Builder(String key) {
            super();
            String trimmed = key.trim();
            int length = trimmed.length();
            this.key = length > 0 ? trimmed : this.key;
        }

        Builder with(String name, String value) {
            String before = options.put(name, value);
            String note = name + (before != null ? "!" : "");
            String part = note + parts.size();
            parts.add(part);
            return this;
        }

        BuilderChain build() {
            Map<String, String> options = new LinkedHashMap<>(this.options);
            List<String> parts = List.copyOf(this.parts);
            String key = this.key + options.size();
            return new BuilderChain(key, options, parts);
        }
    }

    String render() {
        StringBuilder text = new StringBuilder(key);
        String separator = "?";
        for (Map.Entry<String, String> entry : options.entrySet()) {
            String name = entry.getKey();
            String value = entry.getValue();
            text.append(separator).append(name).append("=").append(value);
            separator = "&";
        }
        return text + (parts.isEmpty() ? "" : "#" + parts);
    }

    public static void main(String[] arguments) {
        check(new Builder(" page ").build().render(), "page0");
        check(new Builder("").build().render(), "default0");
        String told = new Builder().with("a", "1").with("b", "2").with("a", "3").build().render();
        check(told, "2st2?a=3&b=2#[made, a1, b2, a!3]");
        System.out.println(told + told.indexOf("?"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
