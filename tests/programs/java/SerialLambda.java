import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Objects and lambdas that are written and read again. */
public class SerialLambda {
    static class Note implements Serializable {
        private static final long serialVersionUID = 1L;
        String key;
        transient String value;
        List<String> tags = new ArrayList<>();

        Note(String key, String value) {
            this.key = key;
            this.value = value;
        }
    }

    static byte[] write(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int before = bytes.size();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        byte[] written = bytes.toByteArray();
        return before == 0 ? written : null;
    }

    @SuppressWarnings("unchecked")
    static <T> T read(byte[] written) throws IOException, ClassNotFoundException {
        ByteArrayInputStream bytes = new ByteArrayInputStream(written);
        try (ObjectInputStream in = new ObjectInputStream(bytes)) {
            Object object = in.readObject();
            T result = (T) object;
            return result;
        }
    }

    static String lambda(int amount) throws IOException, ClassNotFoundException {
        String key = "kept";
        int value = amount * 2;
        int other = value + 1;
        Supplier<String> made = (Supplier<String> & Serializable) () -> key + value;
        Supplier<String> again = read(write(made));
        return again.get() + other;
    }

    static String note() throws IOException, ClassNotFoundException {
        Note note = new Note("k", "v");
        note.tags.add("a=b");
        Note copy = read(write(note));
        String lost = copy.value != null ? copy.value : "lost";
        int place = copy.tags.isEmpty() ? -1 : copy.tags.get(0).indexOf("=");
        return copy.key + lost + place;
    }

    public static void main(String[] arguments) throws Exception {
        if (!lambda(4).equals("kept89") || !note().equals("klost1")) {
            throw new AssertionError(lambda(4) + note());
        }
        System.out.println(lambda(1) + note());
    }
}
