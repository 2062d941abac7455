package org.traceetl.server.decode;

/** A profile that maps attributes to series. Immutable; any thread. */
public interface MappedProfile {
  /** Returns a mapping for one decoder. */
  SpanMapping newMapping();

  /**
   * Returns the upper bounds of the finite buckets for a kind of series, in nanoseconds, ascending;
   * at most as many as the configured histogram has.
   *
   * @param kind 0 to 15, as the mapping assigns it to series
   */
  long[] boundsNanos(int kind);
}
