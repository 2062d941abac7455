package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.common.LogThrottle;

/**
 * The directory of rings; opening is retried while the directory is not available. Owned by the
 * source's thread, except {@link #wake}.
 */
final class RingDirectory implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RingDirectory.class);

  private final RingConfig config;
  private final long openNanos;
  private final LogThrottle throttle;
  // Prevents the directory from being closed while another thread ends the sleep.
  private final Object sleeping = new Object();
  private RingFiles files;
  private long nextOpenNanos;

  RingDirectory(RingConfig config, PollIntervals rhythm, LongSupplier nanoClock) {
    this.config = config;
    this.openNanos = rhythm.openNanos();
    this.throttle = new LogThrottle(Duration.ofHours(1), nanoClock);
    this.nextOpenNanos = nanoClock.getAsLong();
  }

  /** Returns the files; null while the directory is not available. */
  RingFiles files() {
    return files;
  }

  /** Opens the directory if it is time to; returns true if it is a new one. */
  boolean open(long now) {
    if (now - nextOpenNanos < 0) {
      return false;
    }
    nextOpenNanos = now + openNanos;
    if (files != null && files.isInPlace()) {
      return false;
    }
    close();
    try {
      RingFiles opened = RingFiles.open(config.directory(), config.group());
      synchronized (sleeping) {
        files = opened;
      }
      log.info("Reading the rings of applications in {}", config.directory());
      return true;
    } catch (IOException | RuntimeException e) {
      if (throttle.permits()) {
        log.warn(
            "No rings are read; the agent retries every {} s: {}",
            TimeUnit.NANOSECONDS.toSeconds(openNanos),
            e.toString());
      }
      return false;
    }
  }

  /** Ends a sleep from another thread. */
  void wake() {
    synchronized (sleeping) {
      if (files != null) {
        try {
          files.wake();
        } catch (IOException e) {
          // The sleep ends within a second without it.
        }
      }
    }
  }

  @Override
  public void close() {
    synchronized (sleeping) {
      if (files != null) {
        files.close();
        files = null;
      }
    }
  }
}
