package billing;

import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Reminds those who have not paid. */
public class Dunning {
    private static final int[] FEES = {0, 500, 1500};

    /** Returns how many reminders are due by now: one for every started fortnight. */
    public int level(Invoice invoice, LocalDate today) {
        if (!invoice.isOverdue(today)) {
            return 0;
        }
        long days = ChronoUnit.DAYS.between(invoice.due(), today);
        return (int) Math.min(FEES.length, 1 + days / 14);
    }

    public long fee(Invoice invoice, LocalDate today) {
        int level = level(invoice, today);
        return level == 0 ? 0 : FEES[level - 1];
    }

    public List<Invoice> toRemind(List<Invoice> invoices, LocalDate today) {
        return invoices.stream().filter(invoice -> level(invoice, today) > 0).toList();
    }
}
