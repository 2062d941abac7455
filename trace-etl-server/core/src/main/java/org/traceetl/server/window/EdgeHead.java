package org.traceetl.server.window;

/**
 * What half-edges of one process have in common: who sent them, and what they say of the other end.
 *
 * @param application that the half's span belongs to
 * @param failed whether the spans failed
 * @param connectionType 0 a call, 1 a message, 2 a call of a database
 * @param peer name of the other end by the span's attributes; empty for none
 * @param samplingThreshold of OpenTelemetry's sampling, below 2^56; 0 if each half represents only
 *     itself
 */
public record EdgeHead(
    String application, boolean failed, int connectionType, String peer, long samplingThreshold) {}
