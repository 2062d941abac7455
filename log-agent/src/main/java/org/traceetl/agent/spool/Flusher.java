package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;

/** Forces files that were written since the last step. Other methods are safe for any thread. */
final class Flusher implements SteppedTask {
  private static final Logger log = LoggerFactory.getLogger(Flusher.class);
  private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LogThrottle failureLog;
  // In the order of the writes, so that simulations are repeatable.
  private final Set<FrameFile> unforced = Collections.synchronizedSet(new LinkedHashSet<>());

  Flusher(LogThrottle failureLog) {
    this.failureLog = failureLog;
  }

  /** Adds a file to be forced at the next step. */
  void add(FrameFile file) {
    unforced.add(file);
  }

  /** Removes a file that is deleted. */
  void remove(FrameFile file) {
    unforced.remove(file);
  }

  /** Logs that segments were replaced after failed forces. */
  void logRewritten(int segments, Path directory) {
    if (failureLog.permits()) {
      log.warn(
          "Rewrote {} spool segments because their flush to the disk failed. Check the disk of {}",
          segments,
          directory.toAbsolutePath());
    }
  }

  @Override
  public long doWork() {
    Collection<FrameFile> files = List.copyOf(unforced);
    unforced.removeAll(files);
    files.forEach(this::force);
    return FLUSH_NANOS;
  }

  /** Forces a file, unless that failed before. */
  void force(FrameFile file) {
    if (file.isUnsound()) {
      // A repeated force would succeed and prove nothing.
      return;
    }
    try {
      file.force();
    } catch (ClosedChannelException e) {
      // The file was deleted meanwhile.
    } catch (IOException e) {
      if (failureLog.permits()) {
        log.error(
            "Failed to flush {} to the disk: {}. The agent rewrites its unconfirmed batches to a"
                + " new segment. Check the disk",
            file.path(),
            e.toString());
      }
    }
  }
}
