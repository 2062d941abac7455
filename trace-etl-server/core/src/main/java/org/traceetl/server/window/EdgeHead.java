package org.traceetl.server.window;

import java.util.List;

/**
 * What half-edges of one process have in common: who sent them, and what they say of the other end.
 *
 * @param application that the half's span belongs to
 * @param failed whether the spans failed
 * @param connectionType 0 a call, 1 a message, 2 a call of a database
 * @param peer name of the other end by the span's attributes; empty for none
 * @param samplingThreshold of OpenTelemetry's sampling, below 2^56; 0 if each half represents only
 *     itself
 * @param values one for each of the dimensions of its {@link EdgeChange}; empty for none
 */
public record EdgeHead(
    String application,
    boolean failed,
    int connectionType,
    String peer,
    long samplingThreshold,
    List<String> values) {
  /** Creates a head without dimensions. */
  public EdgeHead(
      String application, boolean failed, int connectionType, String peer, long samplingThreshold) {
    this(application, failed, connectionType, peer, samplingThreshold, List.of());
  }

  /** Returns a head with other values. */
  public EdgeHead withValues(List<String> others) {
    return new EdgeHead(application, failed, connectionType, peer, samplingThreshold, others);
  }
}
