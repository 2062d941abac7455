package org.traceetl.server.edge;

/**
 * Receives pairs and expired halves from a {@link HalfTable}. The arguments are valid during the
 * call only. An implementation must not call the table.
 */
public interface Joins {
  /**
   * Two halves have equal key and check. The callee is paired with this caller only; {@link
   * Half#isPaired} of the caller returns whether an earlier pair had it, too.
   *
   * @param caller client or producer
   * @param callee server or consumer
   */
  void paired(Half caller, Half callee);

  /**
   * A half leaves the table because its time is over. {@link Half#isPaired} returns whether it is a
   * caller that was paired; any other half had no partner.
   */
  void expired(Half half);
}
