package org.traceetl.proto;

/** Limits of a batch. The writer respects them; the reader refuses a batch that exceeds one. */
public final class Limits {
  /** Largest message, bytes: RocketMQ's default maximum. */
  public static final int MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

  /** Most spans in a batch. */
  public static final int MAX_SPANS = 65_536;

  /** Most dictionary entries in a batch. */
  public static final int MAX_DICTIONARY_ENTRIES = 262_144;

  /** Longest dictionary entry, bytes. */
  public static final int MAX_STRING_BYTES = 65_535;

  /** Most attributes of one span or of the resource. */
  public static final int MAX_ATTRIBUTES = 1_024;

  /** Most events of one span, and of the spans of one group. */
  public static final int MAX_SPAN_EVENTS = 1_024;

  /** Most numbers of a span's events: two for each event, and two for each of its attributes. */
  public static final int MAX_EVENT_NUMBERS = 8 * MAX_SPAN_EVENTS;

  /** Most events in a batch; those of a group count once. */
  public static final int MAX_EVENTS = 65_536;

  /**
   * Largest size of a span, bytes; a larger one counts as this. It bounds what a batch adds to a
   * sum: 2^40, so that no series' sum can overflow in practice.
   */
  public static final long MAX_SPAN_BYTES = 1 << 24;

  /** Most half-edges in a batch. */
  public static final int MAX_HALF_EDGES = 65_536;

  /** Most dimensions that half-edges share; those of all parts of a {@link Demand}. */
  public static final int MAX_EDGE_DIMENSIONS = 128;

  /** Latest time of a message, microseconds since 1970: in the year 2255. */
  public static final long MAX_MESSAGE_MICROS = (1L << 53) - 1;

  private Limits() {}
}
