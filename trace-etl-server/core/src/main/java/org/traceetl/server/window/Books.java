package org.traceetl.server.window;

import java.util.Map;

/**
 * Counts the outcomes of an application's spans in one window. They balance: {@code received =
 * recorded + overflowed + filtered + duplicate + sum of rejected}.
 *
 * @param application empty for batches rejected before their application was known
 * @param rejected spans by reason ({@link org.traceetl.proto.Rejection#label}); absent reasons are
 *     0
 * @param heldBack documents not kept because of a limit, or without a trace ID; not part of the
 *     balance
 * @param bytes of the application's batches as they were sent, without duplicates; not part of the
 *     balance. 0 if the window was written without panes, or before they were counted
 */
public record Books(
    String application,
    long received,
    long recorded,
    long overflowed,
    long filtered,
    long duplicate,
    Map<String, Long> rejected,
    long heldBack,
    long bytes) {
  /** Represents applications without room, and operations of an application without room. */
  public static final String OTHER = "_other";

  /** Creates books without bytes. */
  public Books(
      String application,
      long received,
      long recorded,
      long overflowed,
      long filtered,
      long duplicate,
      Map<String, Long> rejected,
      long heldBack) {
    this(application, received, recorded, overflowed, filtered, duplicate, rejected, heldBack, 0);
  }

  /** Returns the same books with other bytes. */
  public Books withBytes(long other) {
    return new Books(
        application,
        received,
        recorded,
        overflowed,
        filtered,
        duplicate,
        rejected,
        heldBack,
        other);
  }

  /** Returns whether no count is negative and the outcomes add up to the received spans. */
  public boolean balance() {
    long outcomes = recorded + overflowed + filtered + duplicate;
    long signs = received | recorded | overflowed | filtered | duplicate | heldBack | bytes;
    for (long spans : rejected.values()) {
      outcomes += spans;
      signs |= spans;
    }
    return signs >= 0 && outcomes == received;
  }
}
