package org.traceetl.agent.spool;

import java.util.Locale;

/** The final outcome of a batch. */
public enum Settlement {
  PUBLISHED,
  /** Dropped: the spool was full, and this batch was among the oldest. */
  FULL,
  /** Dropped: older than the limit. */
  AGE,
  /** Dropped: older than the limit, and its queue is no longer in the topic. */
  QUEUE_GONE,
  /** Dropped: the broker refuses it permanently. */
  REFUSED_BY_BROKER,
  /** Dropped: its bytes on disk are damaged or unreadable. */
  DAMAGED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Returns the metric label. */
  String label() {
    return label;
  }
}
