package org.traceetl.perf.simulate.check;

import java.util.List;
import java.util.stream.Stream;

/**
 * One end of a request between two processes, as its span shows it.
 *
 * @param side {@link #CLIENT}, {@link #SERVER}, {@link #PRODUCER} or {@link #CONSUMER}
 * @param connectionType {@link #CALL}, {@link #MESSAGE} or {@link #DATABASE}
 * @param peer name of the other end, as attributes give it; empty for none
 * @param waits whether it waits for the other end; otherwise it needs none
 * @param key hash of trace ID and span ID of the calling span; 0 if the half does not wait
 * @param check bits of another hash of them; 0 if the half does not wait
 * @param messageMicros end of a producer's or start of a consumer's span, microseconds since 1970;
 *     0 if the half waits for no message
 * @param values as {@link #values} returns them
 */
public record HalfEdge(
    String application,
    int side,
    int connectionType,
    String peer,
    boolean failed,
    boolean waits,
    long key,
    int check,
    long durationNanos,
    long messageMicros,
    String values) {
  /** Attributes that may be dimensions of edges: one of spans, one of their resources. */
  public static final List<String> DIMENSIONS = List.of(SeriesKey.REGION, "service.name");

  public static final int CLIENT = 1;
  public static final int SERVER = 2;
  public static final int PRODUCER = 3;
  public static final int CONSUMER = 4;

  public static final int CALL = 0;
  public static final int MESSAGE = 1;
  public static final int DATABASE = 2;

  /** Returns the values of the {@link #DIMENSIONS} as one text; empty if all are empty. */
  public static String values(String... values) {
    return Stream.of(values).allMatch(String::isEmpty) ? "" : String.join("/", values);
  }

  boolean isCaller() {
    return side == CLIENT || side == PRODUCER;
  }
}
