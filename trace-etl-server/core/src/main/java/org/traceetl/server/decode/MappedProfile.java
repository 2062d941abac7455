package org.traceetl.server.decode;

/** A profile whose series are more than copies of attributes. Immutable; any thread. */
public interface MappedProfile {
  /** A mapping for one decoder. */
  SpanMapping newMapping();

  /**
   * Upper bounds of the finite buckets of the series of a kind, nanoseconds, rising; at most as
   * many as the histogram is configured with.
   *
   * @param kind 0 to 15, as the mapping gives it to series
   */
  long[] boundsNanos(int kind);
}
