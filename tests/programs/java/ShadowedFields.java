import java.util.ArrayList;
import java.util.List;

/** Locals and parameters that hide fields, before and after their declaration. */
public class ShadowedFields {
    private int key = 5;
    private int value = 7;
    private int[] numbers = {1, 2, 3};
    static int total = 1000;

    int before() {
        int first = key;
        int second = value * 2;
        int key = first + second;
        int value = key + this.key;
        return value - this.value;
    }

    int blocks() {
        int result = 0;
        {
            int value = 100;
            result += value;
        }
        result += value;
        for (int value = 0; value < 3; value++) {
            result += value;
        }
        result += value;
        return result;
    }

    int each() {
        int sum = 0;
        int count = 0;
        for (int number : numbers) {
            int numbers = number * 10;
            sum += numbers;
            count++;
        }
        return sum + count + numbers.length;
    }

    static int shadow(int total) {
        int doubled = total * 2;
        int kept = ShadowedFields.total;
        ShadowedFields.total = kept + doubled;
        total = kept;
        return total + doubled;
    }

    List<String> names(String value) {
        List<String> found = new ArrayList<>();
        String prefix = value + this.value;
        String suffix = "#" + key;
        if (found.isEmpty() && value != null) {
            found.add(prefix + suffix);
        }
        return found;
    }

    public static void main(String[] arguments) {
        ShadowedFields fields = new ShadowedFields();
        check(fields.before(), 17);
        check(fields.blocks(), 117);
        check(fields.each(), 66);
        check(shadow(3), 1006);
        check(total, 1006);
        check(fields.names("v").get(0).indexOf("#"), 2);
        System.out.println(fields.names("w") + " " + total);
    }

    static void check(int told, int wanted) {
        if (told != wanted) {
            throw new AssertionError(told);
        }
    }
}
