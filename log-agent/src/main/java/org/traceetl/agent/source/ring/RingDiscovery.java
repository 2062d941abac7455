package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;

/**
 * Finds new rings in the directory, and removes the files of dead writers. Owned by the source's
 * thread.
 */
final class RingDiscovery {
  private static final Logger log = LoggerFactory.getLogger(RingDiscovery.class);

  /** Most rings opened in one look into the directory; further rings wait for the next look. */
  private static final int MOST_OPENED_AT_ONCE = 64;

  /** Age from which a temporary file without a writer is removed. */
  private static final long UNFINISHED_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private final int maxRings;
  private final OpenRings rings;
  private final RingMetrics metrics;
  private final PollIntervals rhythm;
  private final Clocks clocks;
  private final LogThrottle failureLog;
  private long nextListNanos;
  private long nextTidyNanos;

  RingDiscovery(
      RingConfig config,
      OpenRings rings,
      RingMetrics metrics,
      PollIntervals rhythm,
      Clocks clocks) {
    maxRings = config.maxRings();
    this.rings = rings;
    this.metrics = metrics;
    this.rhythm = rhythm;
    this.clocks = clocks;
    failureLog = new LogThrottle(clocks.nanoClock());
    nextListNanos = clocks.nanos();
    nextTidyNanos = nextListNanos;
  }

  /** Lists the directory in the next look. */
  void listNext(long now) {
    nextListNanos = now;
  }

  /**
   * Opens new rings, and forgets rings that no longer exist, if it is time to.
   *
   * @param reading false to open none, because the agent stops
   */
  void find(RingFiles files, boolean reading, long now) throws IOException {
    if (now - nextListNanos >= 0) {
      nextListNanos = now + rhythm.listNanos();
      // Modification times are coarse: a change within one tick of the last look shows only here.
      if (files.hasChanged() || now - nextTidyNanos >= 0) {
        list(files, reading, now);
      }
    }
  }

  private void list(RingFiles files, boolean reading, long now) throws IOException {
    RingFiles.Found found = files.list();
    int opened = 0;
    int waiting = 0;
    for (String name : found.rings()) {
      if (reading && !rings.knows(name)) {
        if (opened == MOST_OPENED_AT_ONCE || rings.size() >= maxRings) {
          waiting++;
        } else {
          opened++;
          waiting += rings.open(files, name, now) ? 0 : 1;
        }
      }
    }
    metrics.waiting = waiting;
    if (found.all()) {
      rings.retain(new HashSet<>(found.rings()), reading);
    }
    if (now - nextTidyNanos >= 0) {
      removeUnfinished(files, found.unfinished());
    }
  }

  private void removeUnfinished(RingFiles files, List<String> names) {
    for (String name : names) {
      if (clocks.millis() - files.writtenMillis(name) > UNFINISHED_MILLIS) {
        try {
          boolean _ = files.removeIfDead(name);
        } catch (IOException e) {
          if (failureLog.permits()) {
            log.warn("Cannot remove {}: {}", name, e.toString());
          }
        }
      }
    }
  }

  /**
   * Removes the files of given-up rings without a writer, if it is time to.
   *
   * @param files null while there is no directory
   */
  void tidy(RingFiles files, long now) {
    if (now - nextTidyNanos >= 0) {
      nextTidyNanos = now + rhythm.checkNanos();
      if (files != null) {
        rings.removeDead(files);
      }
    }
  }
}
