import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Records: compact and canonical constructors, static factories, nested and generic records. */
public class RecordsShop {
    record Item(String key, int value) {
        static int made = 0;

        Item {
            String trimmed = key.trim();
            if (trimmed.isEmpty()) {
                throw new IllegalArgumentException("no key");
            }
            key = trimmed;
            made++;
        }

        Item(String text) {
            this(text.substring(0, text.indexOf("=")), Integer.parseInt(text.substring(text.indexOf("=") + 1)));
        }

        Item raised(int percent) {
            int added = value * percent / 100;
            int total = value + added;
            Item result = new Item(key, total);
            return result;
        }
    }

    record Box<T>(T content, List<String> labels) {
        Box(T content, List<String> labels) {
            List<String> copy = new ArrayList<>(labels);
            copy.sort(null);
            this.content = content;
            this.labels = copy;
        }

        boolean plain() {
            boolean filled = content != null;
            boolean bare = labels.isEmpty();
            boolean both = filled && bare;
            return both;
        }
    }

    static List<Item> parse(String text) {
        List<Item> items = new ArrayList<>();
        int failed = 0;
        for (String part : text.split(";")) {
            try {
                Item item = new Item(part);
                items.add(item);
            } catch (IllegalArgumentException problem) {
                String reason = problem.getMessage();
                failed += reason != null ? 1 : 0;
            }
        }
        items.add(new Item("failed", failed));
        return items;
    }

    public static void main(String[] arguments) {
        List<Item> items = parse(" tea=300;ink=x;=4;pen=50");
        expect("[Item[key=tea, value=300], Item[key=pen, value=50], Item[key=failed, value=2]]", items.toString());
        expect("Item[key=tea, value=330]", items.get(0).raised(10).toString());
        expect("true", "" + items.get(1).equals(new Item("pen", 50)));
        expect("[a, b]", new Box<>(1, List.of("b", "a")).labels().toString());
        expect("true", "" + new Box<>("x", List.of()).plain());
        String names = Arrays.stream(Item.class.getRecordComponents())
            .map(each -> each.getName()).collect(Collectors.joining(","));
        expect("key,value", names);
        System.out.println(Item.made + " " + items);
    }

    static void expect(String wanted, String told) {
        if (!wanted.equals(told)) {
            throw new AssertionError(told);
        }
    }
}
