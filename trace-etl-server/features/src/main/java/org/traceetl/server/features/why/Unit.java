package org.traceetl.server.features.why;

/**
 * What counts once: the spans of one trace and operation. One of its spans gives the attributes:
 * among the selected ones, if there are some, that with the greatest hash of its ID.
 */
final class Unit {
  static final int NONE = -1;

  final long traceHigh;
  final long traceLow;
  final int operation;

  /** Whether a span is selected. */
  boolean selected;

  /** Selected spans that an agent sends in any case represent this many; 0: there are none. */
  double wholeWeight;

  /** The spans of the trace in the sample represent this many each; 0: it is not a member. */
  double sampleWeight;

  /**
   * The agent of an ordinary span that is one of its sample only if the agent sends all spans
   * whole; {@link #NONE} without one.
   */
  int agent = NONE;

  /** What such a span represents. */
  double agentWeight;

  /** What the unit counts in a comparison; spans of messages are thinned until they count 1. */
  double weight = 1;

  /** Numbers of {@link AttributeValues}, of the span that gives them. */
  int[] values = {};

  // Of the same span
  /** Attributes that are numbers, as numbers of {@link AttributeValues#keys}. */
  int[] numericKeys = {};

  /** The values of these. */
  double[] numbers = {};

  long spanId;
  long startUnixNanos;
  long durationNanos;

  private long rank;
  private boolean isRanked;

  Unit(long traceHigh, long traceLow, int operation) {
    this.traceHigh = traceHigh;
    this.traceLow = traceLow;
    this.operation = operation;
  }

  /** Returns whether a span now gives the attributes. */
  boolean takes(boolean isSelected, long spanHash) {
    if (isRanked && (selected && !isSelected || selected == isSelected && spanHash <= rank)) {
      return false;
    }
    rank = spanHash;
    isRanked = true;
    return true;
  }
}
