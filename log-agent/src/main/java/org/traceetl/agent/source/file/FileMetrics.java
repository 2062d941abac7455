package org.traceetl.agent.source.file;

import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the file source. */
public final class FileMetrics extends MetricSet {
  final LongAdder truncations =
      adder(
          "file_truncations",
          "Truncations of trace logs; lines that were not read before the truncation are lost.");
  volatile int open;
  volatile int unfollowed;
  volatile long unreadBytes;

  public FileMetrics() {
    gauge("open_files", "Trace logs that the agent reads.", () -> open);
    gauge(
        "unfollowed_files",
        "Trace logs that the agent found but does not read: they cannot be opened, or too many"
            + " are open.",
        () -> unfollowed);
    gauge(
        "unread_file_bytes",
        "Bytes of trace logs that are not yet in the spool.",
        () -> unreadBytes);
  }
}
