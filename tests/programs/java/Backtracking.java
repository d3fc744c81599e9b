import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Queens, subsets and permutations by trying and taking back. */
public class Backtracking {
    static int queens(int size) {
        int[] columns = new int[size];
        int solutions = 0;
        int row = 0;
        columns[0] = -1;
        while (row >= 0) {
            int column = columns[row] + 1;
            while (column < size && attacked(columns, row, column)) {
                column++;
            }
            columns[row] = column;
            if (column == size) {
                row--;
            } else if (row == size - 1) {
                solutions++;
            } else {
                columns[++row] = -1;
            }
        }
        return solutions;
    }

    static boolean attacked(int[] columns, int row, int column) {
        boolean hit = false;
        for (int other = 0; other < row && !hit; other++) {
            int distance = row - other;
            int shift = Math.abs(columns[other] - column);
            hit = shift == 0 || shift == distance;
        }
        return hit;
    }

    static void subsets(List<String> items, int start, List<String> chosen, List<String> found) {
        String key = String.join("", chosen);
        found.add(chosen.isEmpty() ? "-" : key);
        for (int index = start; index < items.size(); index++) {
            String item = items.get(index);
            int last = chosen.size();
            chosen.add(item);
            subsets(items, index + 1, chosen, found);
            chosen.remove(last);
        }
    }

    static int permute(char[] letters, int from, StringBuilder all) {
        int count = 0;
        if (from == letters.length) {
            all.append(new String(letters)).append(" ");
            return 1;
        }
        for (int index = from; index < letters.length; index++) {
            char kept = letters[from];
            letters[from] = letters[index];
            letters[index] = kept;
            count += permute(letters, from + 1, all);
            letters[index] = letters[from];
            letters[from] = kept;
        }
        return count;
    }

    public static void main(String[] arguments) {
        List<String> found = new ArrayList<>();
        subsets(Arrays.asList("a", "b", "c"), 0, new ArrayList<>(), found);
        StringBuilder all = new StringBuilder();
        int count = permute("xyz".toCharArray(), 0, all);
        if (queens(6) != 4 || !found.toString().equals("[-, a, ab, abc, ac, b, bc, c]")) {
            throw new AssertionError(found);
        }
        if (count != 6 || all.indexOf("zyx") < 0 || found.get(0) == null) {
            throw new AssertionError(all);
        }
        System.out.println(found + " " + all + queens(5));
    }
}
