import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Arrays in several dimensions, in old and new notation. */
public class MatrixMaths {
    static int[][] multiply(int[][] left, int[][] right) {
        int rows = left.length, columns = right[0].length, inner = right.length;
        int[][] product = new int[rows][columns];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int total = 0;
                for (int index = 0; index < inner; index++) {
                    total += left[row][index] * right[index][column];
                }
                product[row][column] = total;
            }
        }
        return product;
    }

    static int spiral(int grid[][])[] {
        int top = 0, bottom = grid.length - 1, left = 0, right = grid[0].length - 1;
        int[] order = new int[grid.length * grid[0].length];
        int count = 0;
        while (top <= bottom && left <= right) {
            for (int column = left; column <= right; column++) order[count++] = grid[top][column];
            top++;
            for (int row = top; row <= bottom; row++) order[count++] = grid[row][right];
            right--;
            for (int column = right; top <= bottom && column >= left; column--) order[count++] = grid[bottom][column];
            bottom--;
            for (int row = bottom; left <= right && row >= top; row--) order[count++] = grid[row][left];
            left++;
        }
        return order;
    }

    static List<List<Integer>> pascal(int height) {
        List<List<Integer>> triangle = new ArrayList<>();
        List<Integer> previous = null;
        for (int level = 0; level < height; level++) {
            List<Integer> current = new ArrayList<>();
            for (int index = 0; index <= level; index++) {
                boolean edge = index == 0 || index == level;
                int value = edge || previous == null ? 1 : previous.get(index - 1) + previous.get(index);
                current.add(value);
            }
            triangle.add(current);
            previous = current;
        }
        return previous != null && !triangle.isEmpty() ? triangle : List.of();
    }

    static String[] words(String text) {
        String key[] = text.split(","), value = "";
        int[] sizes = new int[key.length];
        for (int index = 0; index < key.length; index++) {
            sizes[index] = key[index].length();
            value += key[index].charAt(0);
        }
        return new String[] {value, Arrays.toString(sizes), "" + text.indexOf(",")};
    }

    public static void main(String[] arguments) {
        check(Arrays.deepToString(multiply(new int[][] {{1, 2}, {3, 4}}, new int[][] {{0, 1}, {1, 0}})),
            "[[2, 1], [4, 3]]");
        check(Arrays.toString(spiral(new int[][] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}})), "[1, 2, 3, 6, 9, 8, 7, 4, 5]");
        check(pascal(4).toString(), "[[1], [1, 1], [1, 2, 1], [1, 3, 3, 1]]");
        check(Arrays.toString(words("ab,c")), "[ac, [2, 1], 2]");
        System.out.println(pascal(5));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
