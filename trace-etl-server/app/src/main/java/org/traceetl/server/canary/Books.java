package org.traceetl.server.canary;

/**
 * The books of one path: how many spans agents accepted, and how many the pages show.
 *
 * <p>A request without an answer may have been accepted. So the number of expected spans is an
 * interval: {@link #least} counts answered requests, {@link #most} also those that may have been
 * accepted. Spans count as wrong only outside of the interval: above it at once, below it if {@link
 * #giveUpMissing} is called. A repeat of a request in the same bytes is the same request, because
 * agents count it once.
 *
 * <p>Confined to one thread.
 */
final class Books {
  /** Spans of the open request; 0 without one. */
  private int open;

  /** Whether an agent may have accepted the open request. */
  private boolean maybe;

  private long answered;
  private long unanswered;
  private long seen;
  private long twice;
  private long lost;

  /** Opens a request. The previous one must have been closed. */
  void open(int spans) {
    if (open != 0) {
      throw new IllegalStateException("a request of " + open + " spans is open");
    }
    open = spans;
    maybe = false;
  }

  /** Notes that an attempt to send the open request ended without an answer. */
  void maybeAccepted() {
    maybe = true;
  }

  /** Closes the open request: the agent answered that it accepted this number of its spans. */
  void accepted(int spans) {
    answered += spans;
    open = 0;
  }

  /** Closes the open request, which is not repeated. */
  void giveUpOpen() {
    unanswered += maybe ? open : 0;
    open = 0;
  }

  /**
   * Sets the number of spans that the pages show.
   *
   * @param shown must not decrease
   * @return number of spans that were found to count twice
   */
  long show(long shown) {
    seen = shown;
    long above = Math.max(0, seen - twice - most());
    twice += above;
    return above;
  }

  /**
   * Gives up the spans that are missing: they count as lost. If they appear later, they count as
   * twice.
   *
   * @return their number
   */
  long giveUpMissing() {
    long missing = missing();
    lost += missing;
    return missing;
  }

  /** Returns how many expected spans no page shows. */
  long missing() {
    return Math.max(0, least() - (seen - twice));
  }

  /** Returns the least number of spans that pages must show. */
  private long least() {
    return answered - lost;
  }

  /** Returns the highest number of spans that pages may show. */
  private long most() {
    return least() + unanswered + (maybe ? open : 0);
  }

  boolean isOpen() {
    return open != 0;
  }

  /** Returns whether an agent may have accepted the open request. */
  boolean isMaybeAccepted() {
    return open != 0 && maybe;
  }

  /** Returns the number of spans that agents confirmed. */
  long answered() {
    return answered;
  }

  /** Returns the number of spans that agents may have accepted without a confirmation. */
  long unanswered() {
    return unanswered + (maybe ? open : 0);
  }

  /** Returns the number of spans that the pages show. */
  long seen() {
    return seen;
  }

  /** Returns how many spans were counted twice or not at all. */
  long wrong() {
    return twice + lost;
  }
}
