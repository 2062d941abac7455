package org.traceetl.server.window;

import java.util.Map;

/**
 * What became of an application's spans in one window. They balance: {@code received = recorded +
 * overflowed + filtered + duplicate + sum of rejected}.
 *
 * @param application empty for batches refused before their application was known
 * @param rejected spans by reason ({@link org.traceetl.proto.Rejection#label}); absent reasons are
 *     0
 * @param heldBack documents not kept because of the rate cap, or without a trace ID; not part of
 *     the balance
 */
public record Books(
    String application,
    long received,
    long recorded,
    long overflowed,
    long filtered,
    long duplicate,
    Map<String, Long> rejected,
    long heldBack) {
  /** Stands for the applications that found no room, and for such operations of an application. */
  public static final String OTHER = "_other";
}
