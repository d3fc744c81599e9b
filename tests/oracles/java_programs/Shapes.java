import java.util.List;
import java.util.Objects;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;

/** Records, sealed types, patterns, text blocks, arrays and interfaces with bodies. */
public sealed interface Shapes {
    record Circle(double radius) implements Shapes {
        public Circle {
            double checked = radius;
            if (checked < 0) throw new IllegalArgumentException();
        }

        double area() {
            double squared = radius * radius;
            return Math.PI * squared;
        }
    }

    record Box(int width, int height) implements Shapes {
        public Box(int width, int height) {
            int least = Math.min(width, height);
            this.width = Math.max(least, width);
            this.height = height;
        }

        static Box square(int side) {
            return new Box(side, side);
        }
    }

    default double measure() {
        if (this instanceof Circle circle && circle.radius() > 0) {
            double result = circle.area();
            return result;
        }
        if (!(this instanceof Box box)) {
            throw new IllegalStateException();
        }
        int width = box.width();
        double result = width * box.height();
        return result;
    }

    static int[][] grid(int rows, int columns) {
        int[][] cells = new int[rows][columns];
        int total = 0;
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns; column++)
                cells[row][column] = total++ % (row + 1) + cells[0][0];
        int row[] = cells[0], column = row[0];
        row[column] += 1;
        return cells;
    }

    static String explain(List<? extends Shapes> shapes) {
        String header = """
            width height
              \"quoted\" area
            """;
        StringBuilder table = new StringBuilder(header);
        for (Shapes shape : shapes) {
            double area = shape.measure();
            table.append(String.format("%s %.2f%n", shape, area));
        }
        char quote = '\'', slash = '\\';
        String escaped = "\"table\"" + quote + slash;
        return table + escaped;
    }

    static int fold(int[] numbers, int start) {
        IntBinaryOperator plus = (left, right) -> left + right;
        IntFunction<IntFunction<Integer>> curried = left -> right -> left * right;
        int folded = start;
        for (int number : numbers) folded = plus.applyAsInt(folded, number);
        int[] box = {folded};
        class Counter {
            int seen;

            int count(int by) {
                int next = seen + by;
                return seen = next;
            }
        }
        Counter counter = new Counter();
        int seen = counter.count(box[0]);
        return curried.apply(seen).apply(counter.seen) + box.length;
    }

    static <S extends Shapes> S first(List<S> shapes, S otherwise) {
        S found = otherwise;
        int index = 0;
        do {
            if (shapes.isEmpty()) break;
            S shape = shapes.get(index);
            found = Objects.requireNonNullElse(shape, found);
            index += 1;
        } while (index < shapes.size());
        return found;
    }
}
