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
 * The directory, as long as it can be had: it is tried again and again. Owned by the source's
 * thread, but for {@link #wake}.
 */
final class RingDirectory implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RingDirectory.class);

  private final RingConfig config;
  private final long openNanos;
  private final LogThrottle throttle;
  // Guards the end of a sleep against the end of the directory.
  private final Object sleeping = new Object();
  private RingFiles files;
  private long nextOpenNanos;

  RingDirectory(RingConfig config, PollIntervals rhythm, LongSupplier nanoClock) {
    this.config = config;
    this.openNanos = rhythm.openNanos();
    this.throttle = new LogThrottle(Duration.ofHours(1), nanoClock);
    this.nextOpenNanos = nanoClock.getAsLong();
  }

  /** What is in it; null while it cannot be had. */
  RingFiles files() {
    return files;
  }

  /** Tries to have it, if it is time to; true if it is another one than before. */
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

  /** Ends a sleep in it, from another thread. */
  void wake() {
    synchronized (sleeping) {
      if (files != null) {
        try {
          files.wake();
        } catch (IOException e) {
          // Who sleeps looks up within a second anyway.
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
