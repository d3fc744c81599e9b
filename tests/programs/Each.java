import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Runs the main method of each class given: its name, exit code and output, one line for each. */
public class Each {
    public static void main(String[] names) throws Exception {
        PrintStream out = System.out;
        for (String name : names) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            int code = 0;
            String error = "";
            try {
                Class.forName(name).getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
            } catch (InvocationTargetException problem) {
                code = 1;
                error = String.valueOf(problem.getCause());
            } catch (ReflectiveOperationException | LinkageError problem) {
                code = 1;
                error = String.valueOf(problem);
            }
            System.setOut(out);
            out.println(name + " " + code + " " + encode(printed.toByteArray())
                + " " + encode(error.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static String encode(byte[] text) {
        return "=" + Base64.getEncoder().encodeToString(text);
    }
}
