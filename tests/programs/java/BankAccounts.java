import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A small bank: the kind of code that most programs are made of. */
public class BankAccounts {
    static class Account {
        private final String owner;
        private long cents;
        private final List<String> history = new ArrayList<>();

        Account(String owner, long cents) {
            this.owner = owner;
            this.cents = cents;
        }

        boolean withdraw(long amount) {
            long before = cents;
            long after = before - amount;
            boolean allowed = after >= 0;
            if (allowed) {
                cents = after;
                history.add("-" + amount);
            }
            return allowed;
        }

        void deposit(long amount) {
            cents += amount;
            history.add("+" + amount);
        }
    }

    private final Map<String, Account> accounts = new LinkedHashMap<>();

    void open(String owner, long cents) {
        accounts.put(owner, new Account(owner, cents));
    }

    String transfer(String from, String to, long amount) {
        Account source = accounts.get(from);
        Account target = accounts.get(to);
        String result = "unknown account";
        if (source != null && target != null) {
            boolean paid = source.withdraw(amount);
            if (paid) {
                target.deposit(amount);
            }
            result = paid ? "paid" : "refused";
        }
        return result;
    }

    int run(String script) {
        int done = 0;
        int failed = 0;
        for (String line : script.split(";")) {
            int arrow = line.indexOf(">");
            int colon = line.indexOf(":");
            String key = line.substring(0, arrow).trim();
            String value = line.substring(arrow + 1, colon).trim();
            long amount = Long.parseLong(line.substring(colon + 1).trim());
            String outcome = transfer(key, value, amount);
            if ("paid".equals(outcome)) {
                done++;
            } else {
                failed++;
            }
        }
        return done * 10 + failed;
    }

    String report() {
        StringBuilder text = new StringBuilder();
        long total = 0;
        for (Account account : accounts.values()) {
            String owner = account.owner;
            long cents = account.cents;
            text.append(owner).append("=").append(cents);
            text.append(account.history.isEmpty() ? " " : account.history + " ");
            total += cents;
        }
        return text.append(total).toString();
    }

    public static void main(String[] arguments) {
        BankAccounts bank = new BankAccounts();
        bank.open("ada", 500);
        bank.open("bob", 100);
        bank.open("eve", 0);
        int outcome = bank.run("ada > bob: 200; bob > ada: 900; eve > zoe: 1; bob>ada:50");
        if (outcome != 22) {
            throw new AssertionError(outcome);
        }
        String report = bank.report();
        if (!report.equals("ada=350[-200, +50] bob=250[+200, -50] eve=0 600")) {
            throw new AssertionError(report);
        }
        System.out.println(report);
    }
}
