package org.traceetl.server.consume;

/**
 * Why a queue that RocketMQ gave to this process is not read.
 *
 * @param silent whether its broker does not answer, so that no server can read the queue
 */
record Unread(String reason, boolean silent) {
  static final Unread BEING_TAKEN = new Unread("is being taken over", false);
  static final Unread WAITS = new Unread("waits for its last owner", false);
  static final Unread ASSIGNED = new Unread("is assigned, its take-over has not begun", false);
  static final Unread WITHHELD =
      new Unread("RocketMQ's client cannot read the group's offset from its broker", true);
}
