package org.traceetl.server.consume.queue;

import java.time.Duration;

/**
 * The time of one queue, by the store times of its messages. Stream time is the sum of the steps
 * between them. A step back counts as 0 and a step forward as at most {@link #MAX_STEP_MILLIS},
 * because an outage of the broker silences all agents and must not exclude them.
 *
 * <p>While a queue without messages has a broker that accepts records, its time passes, too: its
 * agents are silent. That time is not counted again with the next message.
 *
 * <p>Confined to the worker that owns the queue. It allocates nothing.
 */
final class StreamClock {
  /** An agent that sends no batches sends heartbeats at this interval. */
  static final long MAX_STEP_MILLIS = Duration.ofSeconds(15).toMillis();

  /** No message and no earlier time is known. */
  static final long UNKNOWN = Long.MIN_VALUE;

  /** Store time of the last message; {@link #UNKNOWN} before the first. */
  private long messageMillis = UNKNOWN;

  /** {@link #elapsedMillis} at the last message. */
  private long elapsedAtMessage;

  private long restoredMillis = UNKNOWN;
  private long nowMillis = UNKNOWN;
  private long highestMillis = UNKNOWN;
  private long elapsedMillis;

  /**
   * Continues after a take-over: time without a message passes from this time on. Call it before
   * the first message.
   */
  void restore(long millis) {
    restoredMillis = Math.max(restoredMillis, millis);
  }

  /**
   * Begins a message.
   *
   * @param storeMillis when the broker stored it, milliseconds since 1970
   */
  void message(long storeMillis) {
    if (messageMillis != UNKNOWN) {
      long step = Math.clamp(storeMillis - messageMillis, 0, MAX_STEP_MILLIS);
      elapsedMillis = Math.max(elapsedMillis, elapsedAtMessage + step);
    }
    messageMillis = storeMillis;
    elapsedAtMessage = elapsedMillis;
    nowMillis = storeMillis;
    highestMillis = Math.max(highestMillis, storeMillis);
  }

  /** Adds time in which the broker accepted records and had no message. */
  void pass(long millis) {
    elapsedMillis += millis;
    if (nowMillis == UNKNOWN && millis > 0) {
      nowMillis = restoredMillis;
      highestMillis = restoredMillis;
    }
    if (nowMillis != UNKNOWN) {
      nowMillis += millis;
      highestMillis += millis;
    }
  }

  /**
   * Returns the store time of the last message, and the time that passed since then; {@link
   * #UNKNOWN} before the first message.
   */
  long nowMillis() {
    return nowMillis;
  }

  /** Returns the highest store time of messages, and the time that passed since then. */
  long highestMillis() {
    return highestMillis;
  }

  /** Returns the stream time since the take-over. */
  long elapsedMillis() {
    return elapsedMillis;
  }
}
