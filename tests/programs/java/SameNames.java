import java.util.ArrayList;
import java.util.List;

/** One name for a type, a method, a field, a variable, a label and a package part. */
public class SameNames {
    static String Text = "field";
    static int count = 3;

    static class Text {
        static String show(String Text) {
            String value = Text + "!";
            String other = SameNames.Text;
            String both = value + other;
            return both;
        }
    }

    static int count(int count) {
        int total = SameNames.count;
        int step = 2;
        count:
        while (true) {
            total += count;
            if (total > 10) {
                break count;
            }
            total += step;
        }
        return total == 99 ? count(count) : total;
    }

    static String String(String String) {
        int java = String.length();
        String lang = java + "/" + String;
        Integer Integer = java * 2;
        int parsed = Integer.intValue();
        return lang + parsed;
    }

    static List<Object> values(Object values) {
        List<Object> list = new ArrayList<>();
        Object list2 = values;
        int List = 1;
        for (Object value : new Object[] {values, list2}) {
            list.add(value);
            List++;
        }
        if (!list.isEmpty() && list2 != null) {
            list.add(List);
        }
        return list;
    }

    int size = 5;

    int size() {
        int size = this.size;
        int more = size + 1;
        int less = more - size;
        return size * more + less + new SameNames.Box().size;
    }

    class Box {
        int size = SameNames.this.size * 100;
    }

    public static void main(String[] arguments) {
        check(SameNames.Text, "field");
        check("" + count(2), "13");
        check(String("ab"), "2/ab4");
        check(values("v").toString(), "[v, v, 3]");
        check("" + new SameNames().size(), "531");
        System.out.println(String("xyz") + "s:t".indexOf(":"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
