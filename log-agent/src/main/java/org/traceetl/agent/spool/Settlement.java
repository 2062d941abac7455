package org.traceetl.agent.spool;

import java.util.Locale;

/** What became of a batch in the end. */
public enum Settlement {
  PUBLISHED,
  /** Dropped: the spool was full, and the oldest had to give way. */
  FULL,
  /** Dropped: older than it may be. */
  AGE,
  /** Dropped: older than it may be, and its queue had left the topic. */
  QUEUE_GONE,
  /** Dropped: the broker will never take it. */
  REFUSED_BY_BROKER,
  /** Dropped: its bytes on disk are not what was written. */
  DAMAGED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** As a metric label. */
  String label() {
    return label;
  }
}
