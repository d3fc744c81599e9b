import java.util.ArrayList;
import java.util.List;

/** Inherited fields and methods that a local of a subclass could hide. */
public class InheritedNames {
    static class Vehicle {
        protected int wheels = 4;
        protected String keyValue = "vehicle";
        protected List<String> log = new ArrayList<>();

        String describe(String prefix, int times) {
            String suffix = "s" + wheels;
            String text = prefix + suffix;
            for (int index = 1; index < times; index++) {
                text += suffix;
            }
            log.add(text);
            return text;
        }

        int load(int weight) {
            int limit = wheels * 10;
            int rest = Math.max(0, weight - limit);
            int loaded = weight - rest;
            return loaded;
        }
    }

    static class Bike extends Vehicle {
        protected int wheels = 2;

        @Override
        String describe(String key, int value) {
            String above = super.describe(key, value);
            int mine = wheels;
            int theirs = super.wheels;
            String joined = above + mine + theirs + keyValue;
            return joined;
        }

        @Override
        int load(int weight) {
            int wheels = weight / 10;
            int own = this.wheels;
            int above = super.load(weight);
            return above + own * 100 + wheels * 1000;
        }
    }

    static int total(List<? extends Vehicle> vehicles) {
        int total = 0;
        int bikes = 0;
        for (Vehicle vehicle : vehicles) {
            int load = vehicle.load(50);
            total += load;
            bikes += vehicle instanceof Bike ? 1 : 0;
        }
        boolean any = vehicles != null && !vehicles.isEmpty();
        return any ? total * 10 + bikes : -1;
    }

    public static void main(String[] arguments) {
        Bike bike = new Bike();
        check(bike.describe("b", 2), "bs4s424vehicle");
        check("" + bike.load(50), "5240");
        check(((Vehicle) bike).wheels + "/" + bike.wheels, "4/2");
        check("" + total(List.of(bike, new Vehicle())), "52801");
        check("" + total(List.of()), "-1");
        System.out.println(bike.log + "w=2".substring("w=2".indexOf("=")));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
