import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** Control flow: switches old and new, resources, exceptions, labels, nested and anonymous classes. */
public abstract class Scanner implements Iterable<String>, Closeable {
    enum Kind { WORD, NUMBER, END }

    private final String text;
    private int at;
    private int line = 1;
    private Kind kind;

    protected Scanner(String text) {
        String trimmed = text.trim();
        this.text = trimmed;
        int line = 0;
        for (char c : trimmed.toCharArray()) if (c == '\n') line++;
        this.line += line;
    }

    abstract int weigh(String token, int... weights) throws IOException;

    Kind next() {
        char c;
        do {
            if (at >= text.length()) return kind = Kind.END;
            c = text.charAt(at++);
        } while (Character.isWhitespace(c));
        switch (c) {
            case '0': case '1':
                int start = at;
                while (at < text.length() && Character.isDigit(text.charAt(at))) at++;
                kind = start == at ? Kind.NUMBER : Kind.WORD;
                break;
            case 'n': {
                String name = "n" + c;
                kind = name.isEmpty() ? Kind.END : Kind.WORD;
                break;
            }
            default:
                start = -1;
                kind = start < 0 ? Kind.WORD : Kind.NUMBER;
        }
        return kind;
    }

    int score(Kind kind) {
        int base = switch (kind) {
            case WORD -> 1;
            case NUMBER -> {
                int digits = 0;
                for (int i = 0; i < text.length(); i++) digits += text.charAt(i) < '9' ? 1 : 0;
                yield digits;
            }
            case END -> throw new NoSuchElementException();
        };
        return base + (this.kind == kind ? line : 0);
    }

    static String read(String source) throws IOException {
        StringBuilder out = new StringBuilder();
        try (Reader raw = new StringReader(source); BufferedReader lines = new BufferedReader(raw)) {
            String line;
            while ((line = lines.readLine()) != null) {
                out.append(line).append('\n');
            }
        } catch (IOException | IllegalStateException problem) {
            String message = problem.getMessage();
            throw new IOException(message, problem);
        } finally {
            int length = out.length();
            if (length > 0) out.setLength(length - 1);
        }
        return out.toString();
    }

    static int retry(int limit) {
        int attempts = 0;
        while (true) {
            try {
                if (attempts++ > limit) break;
                Thread.sleep(attempts);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                return -attempts;
            }
        }
        long wide = attempts;
        int narrow = (int) wide, shifted = (narrow) << 2, negated = -(shifted) + ~narrow;
        assert negated != 0 : "negated " + negated;
        return shifted > narrow & !(negated == 1) ? shifted : negated;
    }

    @Override
    public Iterator<String> iterator() {
        final Deque<String> queue = new ArrayDeque<>();
        int words = 0;
        for (String part : text.split(" ")) {
            queue.add(part);
            words++;
        }
        at = words;
        return new Iterator<String>() {
            private int taken;

            @Override
            public boolean hasNext() {
                boolean left = !queue.isEmpty();
                return left;
            }

            @Override
            public String next() {
                String part = queue.poll();
                int before = taken++;
                return part + before;
            }
        };
    }

    class Cursor {
        int at = Scanner.this.at;

        int move(int by) {
            int at = this.at + by;
            Runnable show = () -> {
                int twice = at * 2;
                System.out.println(twice + Scanner.this.at);
            };
            show.run();
            synchronized (this) {
                this.at = at;
            }
            return Scanner.this.new Cursor().at;
        }
    }

    @Override
    public void close() {
    }
}
