package org.traceetl.server.consume.ownership;

/**
 * Why a queue that RocketMQ assigned to this process is not read.
 *
 * @param silent whether its broker does not answer, so that no server can read the queue
 */
public record UnreadReason(String reason, boolean silent) {
  static final UnreadReason BEING_TAKEN = new UnreadReason("is being taken over", false);
  public static final UnreadReason WAITS =
      new UnreadReason("waits until the previous ownership ends", false);

  /** A fault of one window, which does not make the server unready. */
  public static final UnreadReason REFUSED =
      new UnreadReason("pauses because its last window is inconsistent; see the log", false);

  public static final UnreadReason ASSIGNED =
      new UnreadReason("is assigned; its take-over has not begun", false);
  public static final UnreadReason WITHHELD =
      new UnreadReason("RocketMQ's client cannot read the group's offset from its broker", true);
}
