package org.traceetl.server.edge;

/**
 * The fields of a waiting half-edge: what one process knows of a call or a message to another one.
 * A mutable carrier, so that nothing is allocated for a half. One owner thread.
 *
 * <p>Client and producer are the <i>caller</i>, server and consumer the <i>callee</i>.
 */
public final class Half {
  /** Side of a span that calls and gets an answer. */
  public static final int CLIENT = 1;

  /** Side of a span that answers a call. */
  public static final int SERVER = 2;

  /** Side of a span that sends a message. */
  public static final int PRODUCER = 3;

  /** Side of a span that receives or processes a message. */
  public static final int CONSUMER = 4;

  private static final int MAX_CHECK = 0xFFFF;

  private long key;
  private int check;
  private int side;
  private int head;
  private long durationNanos;
  private long pane;
  private long messageMicros;
  private long arrivalMillis;
  private boolean paired;

  /**
   * Sets the fields that a batch has. The half has not arrived yet, and has no partner.
   *
   * @param key hash of trace ID and span ID of the caller's span
   * @param check 16 further bits of an independent hash, 0 to 65,535
   * @param side {@link #CLIENT}, {@link #SERVER}, {@link #PRODUCER} or {@link #CONSUMER}
   * @param head what the half shares with others; the table does not interpret it
   * @param durationNanos duration of the span, at least 0
   * @param pane the pane in which the half was received; the table does not interpret it
   * @param messageMicros when the message was sent or received, microseconds since 1970; the table
   *     does not interpret it
   * @throws IllegalArgumentException if side, check or duration is out of range
   */
  public void set(
      long key, int check, int side, int head, long durationNanos, long pane, long messageMicros) {
    if (side < CLIENT || side > CONSUMER) {
      throw new IllegalArgumentException("A half must have a side of 1 to 4, not " + side);
    }
    if (check < 0 || check > MAX_CHECK) {
      throw new IllegalArgumentException("A half must have a check of 16 bits, not " + check);
    }
    if (durationNanos < 0) {
      throw new IllegalArgumentException(
          "A half must have a duration of at least 0 ns, not " + durationNanos);
    }
    this.key = key;
    this.check = check;
    this.side = side;
    this.head = head;
    this.durationNanos = durationNanos;
    this.pane = pane;
    this.messageMicros = messageMicros;
    arrive(0, false);
  }

  /**
   * Sets the fields that a half has in a table, in addition to those of {@link #set}.
   *
   * @param millis stream time of its arrival, milliseconds since 1970
   * @param hasPartner value of {@link #isPaired}
   */
  public void arrive(long millis, boolean hasPartner) {
    arrivalMillis = millis;
    paired = hasPartner;
  }

  public long key() {
    return key;
  }

  public int check() {
    return check;
  }

  public int side() {
    return side;
  }

  public int head() {
    return head;
  }

  public long durationNanos() {
    return durationNanos;
  }

  public long pane() {
    return pane;
  }

  /** Returns when the message was sent or received, microseconds since 1970; 0 if unknown. */
  public long messageMicros() {
    return messageMicros;
  }

  /** Returns the stream time of its arrival, milliseconds since 1970. */
  public long arrivalMillis() {
    return arrivalMillis;
  }

  /** Returns whether it was paired before; only callers can be paired several times. */
  public boolean isPaired() {
    return paired;
  }

  boolean isCaller() {
    return side == CLIENT || side == PRODUCER;
  }
}
