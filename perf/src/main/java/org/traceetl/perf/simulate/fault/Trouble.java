package org.traceetl.perf.simulate.fault;

/** A way in which a broker serves its clients badly while it runs. */
public enum Trouble {
  /** Each request takes longer. */
  SLOW,
  /** Requests take effect, and their answers are lost. */
  LOST_ANSWERS,
  /** Messages are appended after the sender's timeout. */
  LATE_APPENDS,
  /** Sends are stored, and answered with {@code FLUSH_DISK_TIMEOUT}. */
  FLUSH_DISK_TIMEOUT,
  /** Sends are stored, and answered with {@code FLUSH_SLAVE_TIMEOUT}. */
  FLUSH_SLAVE_TIMEOUT,
  /** Sends are stored, and answered with {@code SLAVE_NOT_AVAILABLE}. */
  SLAVE_NOT_AVAILABLE,
  /** Sends are refused. */
  SYSTEM_BUSY,
  /** Pulls find no message although there are some. */
  STUCK_PULLS,
  /** Answers of pulls are delivered twice. */
  REPEATED_ANSWERS,
  /** Clients receive old routes. */
  STALE_ROUTES
}
