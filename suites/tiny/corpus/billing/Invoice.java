package billing;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** A bill with consecutive number; it cannot be changed once it was sent. */
public final class Invoice {
    public static final int DAYS_TO_PAY = 14;

    private final long number;
    private final LocalDate date;
    private final List<Position> positions = new ArrayList<>();
    private boolean sent;

    /** One line of the bill. */
    public record Position(String article, int amount, long cents) {
        long sum() {
            return amount * cents;
        }
    }

    public Invoice(long number, LocalDate date) {
        this.number = number;
        this.date = date;
    }

    public void add(Position position) {
        if (sent) {
            throw new IllegalStateException("invoice " + number + " was sent");
        }
        positions.add(position);
    }

    public long total() {
        return positions.stream().mapToLong(Position::sum).sum();
    }

    public LocalDate due() {
        return date.plusDays(DAYS_TO_PAY);
    }

    public boolean isOverdue(LocalDate today) {
        return sent && today.isAfter(due());
    }

    public void send() {
        if (positions.isEmpty()) {
            throw new IllegalStateException("nothing to bill");
        }
        sent = true;
    }
}
