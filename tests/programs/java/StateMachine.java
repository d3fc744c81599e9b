import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A machine of states whose moves are lambdas kept in a map. */
public class StateMachine {
    enum State { IDLE, RUNNING, DONE }

    private final Map<State, UnaryOperator<State>> moves = new EnumMap<>(State.class);
    private final List<State> visited = new ArrayList<>();
    private State state = State.IDLE;

    StateMachine(int limit) {
        int[] counter = {0};
        State first = State.RUNNING;
        State last = State.DONE;
        moves.put(State.IDLE, state -> first);
        moves.put(State.RUNNING, state -> {
            int count = ++counter[0];
            boolean finished = count >= limit;
            return finished ? last : state;
        });
    }

    int run(int most) {
        int steps = 0;
        UnaryOperator<State> move = moves.get(state);
        while (move != null && steps < most) {
            State following = move.apply(state);
            visited.add(following);
            state = following;
            move = moves.get(state);
            steps++;
        }
        return steps;
    }

    String trace(String separator) {
        StringBuilder text = new StringBuilder();
        State previous = null;
        int repeated = 0;
        for (State value : visited) {
            if (previous != null) {
                text.append(separator);
            }
            repeated += value == previous ? 1 : 0;
            text.append(value.name().charAt(0));
            previous = value;
        }
        return visited.isEmpty() ? "nothing" : text.append(repeated).toString();
    }

    public static void main(String[] arguments) {
        StateMachine machine = new StateMachine(3);
        check(machine.trace(">"), "nothing");
        check("" + machine.run(10), "4");
        check(machine.trace(">"), "R>R>R>D2");
        check("" + machine.trace(">").indexOf(">"), "1");
        StateMachine stopped = new StateMachine(9);
        check(stopped.run(2) + stopped.trace(""), "2RR1");
        System.out.println(machine.trace("-"));
    }

    static void check(String told, String wanted) {
        if (!told.equals(wanted)) {
            throw new AssertionError(told);
        }
    }
}
