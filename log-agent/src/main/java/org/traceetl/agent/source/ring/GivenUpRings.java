package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.ring.RingMetrics.GivenUp;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.ring.MalformedRingException;

/**
 * Rings that the agent stopped reading because of an error. Their files remain while a process may
 * write to them.
 */
final class GivenUpRings {
  private static final Logger log = LoggerFactory.getLogger(GivenUpRings.class);

  /** Most rings listed; a further one is not listed, and is tried again. */
  private static final int MOST = 4_096;

  private static final int MOST_REMOVED_AT_ONCE = 64;

  private final RingMetrics metrics;
  private final LogThrottle givenUpLog;
  private final LogThrottle failureLog;
  private final Set<String> names = new LinkedHashSet<>();

  GivenUpRings(RingMetrics metrics, LongSupplier nanoClock) {
    this.metrics = metrics;
    this.givenUpLog = new LogThrottle(nanoClock);
    this.failureLog = new LogThrottle(nanoClock);
  }

  boolean contains(String name) {
    return names.contains(name);
  }

  int size() {
    return names.size();
  }

  /**
   * Stops reading a ring.
   *
   * @param cause a broken rule of the format, a failed system call, a fault in its memory, or an
   *     error of the agent
   */
  void add(String name, Throwable cause) {
    metrics.giveUp(reason(cause));
    if (names.size() < MOST) {
      names.add(name);
    }
    if (givenUpLog.permits()) {
      log.warn("Stopped reading ring {}: {}", name, problem(cause));
    }
    if (cause instanceof RuntimeException && failureLog.permits()) {
      log.error("Reading ring {} failed unexpectedly", name, cause);
    }
  }

  private static GivenUp reason(Throwable cause) {
    return switch (cause) {
      case MalformedRingException malformed -> GivenUp.valueOf(malformed.part().name());
      case IOException _ -> GivenUp.UNREADABLE;
      case InternalError _ -> GivenUp.TRUNCATED;
      default -> GivenUp.UNEXPECTED;
    };
  }

  private static String problem(Throwable cause) {
    return switch (cause) {
      case MalformedRingException malformed -> malformed.getMessage();
      case InternalError _ -> "its memory cannot be read";
      default -> cause.toString();
    };
  }

  /** Forgets rings whose files no longer exist. */
  void retain(Set<String> there) {
    names.retainAll(there);
  }

  /**
   * Removes files that have no writer any more.
   *
   * @return the names of the removed files
   */
  List<String> removeDead(RingFiles files) {
    List<String> gone = new ArrayList<>();
    for (String name : names.stream().limit(MOST_REMOVED_AT_ONCE).toList()) {
      names.remove(name);
      if (isRemoved(files, name)) {
        gone.add(name);
      } else {
        // Moves to the end of the queue.
        names.add(name);
      }
    }
    return gone;
  }

  private boolean isRemoved(RingFiles files, String name) {
    try {
      return files.removeIfDead(name);
    } catch (IOException e) {
      if (failureLog.permits()) {
        log.warn("Cannot remove ring {}, which is no longer read: {}", name, e.toString());
      }
      return false;
    }
  }
}
