import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that capture variables, and blocks that are synchronised. */
public class ThreadsTotals {
    private final Object lock = new Object();
    private int shared = 0;

    int add(int threads, int times) throws InterruptedException {
        List<Thread> started = new ArrayList<>();
        AtomicInteger counted = new AtomicInteger();
        int step = 2;
        for (int index = 0; index < threads; index++) {
            int value = index;
            Thread thread = new Thread(() -> {
                for (int round = 0; round < times; round++) {
                    int amount = value + step;
                    synchronized (lock) {
                        shared += amount;
                    }
                    counted.incrementAndGet();
                }
            });
            started.add(thread);
            thread.start();
        }
        for (Thread thread : started) {
            thread.join();
        }
        boolean none = started.isEmpty();
        return none ? 0 : shared * 1000 + counted.get();
    }

    static String futures(List<String> words) {
        ConcurrentHashMap<String, Integer> sizes = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        String key = "total";
        for (String word : words) {
            waiting.add(CompletableFuture.runAsync(() -> {
                int size = word.length();
                sizes.merge(word, size, Integer::sum);
                sizes.merge(key, size, Integer::sum);
            }));
        }
        waiting.forEach(CompletableFuture::join);
        Integer total = sizes.get(key);
        String text = total != null ? "sum=" + total : "sum=none";
        return text.substring(text.indexOf("=") + 1);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int told = new ThreadsTotals().add(3, 10);
        if (told != 90030) {
            throw new AssertionError(told);
        }
        if (!futures(List.of("ab", "c")).equals("3") || !futures(List.of()).equals("none")) {
            throw new AssertionError();
        }
        System.out.println(told + futures(List.of("xyz")));
    }
}
