import java.util.ArrayList;
import java.util.List;

/** Labelled loops, labels that are called like variables, and all kinds of loops. */
public class LabelsAndLoops {
    static List<Integer> primes(int limit) {
        List<Integer> found = new ArrayList<>();
        int checks = 0;
        candidate:
        for (int candidate = 2; candidate < limit; candidate++) {
            for (int prime : found) {
                checks++;
                if (candidate % prime == 0) {
                    continue candidate;
                }
            }
            found.add(candidate);
        }
        found.add(-checks);
        return found;
    }

    static int[] search(int[][] grid, int wanted) {
        int key = -1;
        int value = -1;
        int seen = 0;
        value:
        for (int row = 0; row < grid.length; row++) {
            for (int column = 0; column < grid[row].length; column++) {
                seen++;
                if (grid[row][column] == wanted) {
                    key = row;
                    value = column;
                    break value;
                }
            }
        }
        return new int[] {key, value, seen};
    }

    static String digits(int number) {
        StringBuilder text = new StringBuilder();
        int rest = number;
        int base = 10;
        do {
            int digit = rest % base;
            text.insert(0, digit);
            rest /= base;
        } while (rest > 0);
        for (int left = 0, right = text.length() - 1; left < right; left++, right--) {
            char first = text.charAt(left);
            text.setCharAt(left, text.charAt(right));
            text.setCharAt(right, first);
        }
        return text.toString();
    }

    static int block() {
        int total = 1;
        int extra = 5;
        done: {
            total += extra;
            if (total > 3) {
                break done;
            }
            total = 0;
        }
        int result = total * 2;
        return result;
    }

    public static void main(String[] arguments) {
        List<Integer> found = primes(12);
        if (!found.subList(0, 5).equals(List.of(2, 3, 5, 7, 11))) {
            throw new AssertionError(found);
        }
        int[] place = search(new int[][] {{1, 2}, {3, 4}}, 3);
        if (place[0] != 1 || place[1] != 0 || place[2] != 3) {
            throw new AssertionError(place[2]);
        }
        if (!digits(1230).equals("0321") || block() != 12) {
            throw new AssertionError(digits(1230));
        }
        System.out.println(found + digits(450) + "x=1".indexOf("="));
    }
}
