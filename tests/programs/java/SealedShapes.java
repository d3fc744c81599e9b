import java.util.ArrayList;
import java.util.List;

/** Sealed types, a visitor, and areas that must add up. */
public class SealedShapes {
    sealed interface Shape permits Circle, Rectangle, Group {
        <R> R accept(Visitor<R> visitor);
    }

    record Circle(int radius) implements Shape {
        public <R> R accept(Visitor<R> visitor) {
            return visitor.circle(this);
        }
    }

    record Rectangle(int width, int height) implements Shape {
        public <R> R accept(Visitor<R> visitor) {
            return visitor.rectangle(this);
        }
    }

    record Group(List<Shape> members) implements Shape {
        public <R> R accept(Visitor<R> visitor) {
            return visitor.group(this);
        }
    }

    interface Visitor<R> {
        R circle(Circle circle);

        R rectangle(Rectangle rectangle);

        R group(Group group);
    }

    static int area(Shape shape) {
        int scale = 3;
        List<String> log = new ArrayList<>();
        int result = shape.accept(new Visitor<Integer>() {
            public Integer circle(Circle circle) {
                int radius = circle.radius();
                int square = radius * radius;
                log.add("circle");
                return scale * square;
            }

            public Integer rectangle(Rectangle rectangle) {
                int width = rectangle.width();
                int height = rectangle.height();
                int product = width * height;
                return product;
            }

            public Integer group(Group group) {
                int total = 0;
                for (Shape member : group.members()) {
                    int part = member.accept(this);
                    total += part;
                }
                return total;
            }
        });
        int bonus = log.isEmpty() ? 0 : log.size() * 1000;
        return result + bonus;
    }

    static String names(List<Shape> shapes) {
        StringBuilder text = new StringBuilder();
        String separator = "";
        int position = 0;
        for (Shape shape : shapes) {
            String key = shape.getClass().getSimpleName();
            String value = shape instanceof Group group ? key + group.members().size() : key;
            text.append(separator).append(position++).append(value);
            separator = ",";
        }
        return shapes != null && shapes.isEmpty() ? "none" : text.toString();
    }

    public static void main(String[] arguments) {
        Shape group = new Group(List.of(new Circle(2), new Rectangle(2, 5), new Circle(1)));
        check("" + area(group), "2025");
        check(names(List.of(group, new Circle(1))), "0Group3,1Circle");
        check(names(List.of()), "none");
        System.out.println(names(List.of(group)) + names(List.of()).indexOf("n"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
