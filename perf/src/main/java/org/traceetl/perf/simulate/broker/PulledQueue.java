package org.traceetl.perf.simulate.broker;

import org.apache.rocketmq.common.message.MessageQueue;

/** A queue of a consumer: MessageQueueState and ProcessQueue of RocketMQ 5.5.0. */
final class PulledQueue {
  static final long NONE = -1;

  final MessageQueue queue;
  long pullOffset = NONE;
  long seekOffset = NONE;
  int cachedMessages;
  long cachedBytes;
  boolean dropped;
  boolean paused;

  /** The task that pulls now. */
  PullTask task;

  PulledQueue(MessageQueue queue) {
    this.queue = queue;
  }
}
