package org.traceetl.server.ozhera;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The rules in force, from a file that is read again while the server runs. It compares the
 * content: a ConfigMap is a directory that is swapped beneath a symbolic link, which changes
 * neither the path nor always the time. A content takes effect after two consecutive reads have
 * returned it, so that a half-written file is not used. While the content is invalid or cannot be
 * read, the previous rules stay in force.
 *
 * <p>The rules are thread-safe to read; one thread of its own watches the file.
 */
public final class RulesWatch implements Supplier<OzheraRules>, Component {
  private static final Logger log = LoggerFactory.getLogger(RulesWatch.class);
  private static final long INTERVAL_MILLIS = 5_000;

  /** How long the end waits for a read that hangs, for example on a network file system. */
  private static final long CLOSE_WAIT_MILLIS = 1_000;

  /** Null without a file. */
  private final Path file;

  private final long intervalMillis;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicLong applied = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final Thread thread =
      Thread.ofPlatform().name("ozhera-rules").daemon().unstarted(this::run);
  private volatile OzheraRules inForce = OzheraRules.defaults();

  // Confined to the watching thread: the settled content, the content of the last read, and its
  // error.
  private byte[] settled;
  private byte[] seen;
  private String wrong = "";

  /** The error in the current file; empty if it is in force. */
  private volatile String problem = "";

  /**
   * Reads the file for the first time.
   *
   * @param file null: the defaults stay in force
   * @throws IllegalArgumentException if the file cannot be read, or with all errors in it
   */
  public RulesWatch(Path file) {
    this(file, INTERVAL_MILLIS);
  }

  RulesWatch(Path file, long intervalMillis) {
    this.file = file;
    this.intervalMillis = intervalMillis;
    if (file != null) {
      try {
        settled = OzheraRulesFile.content(file);
      } catch (IOException e) {
        throw new IllegalArgumentException(OzheraRulesFile.unreadable(file, e), e);
      }
      seen = settled;
      inForce = OzheraRulesFile.parse(file, settled);
    }
  }

  /** Returns the rules in force. */
  @Override
  public OzheraRules get() {
    return inForce;
  }

  /** Returns whether the file is invalid or cannot be read, and older rules are in force. */
  public boolean isRefused() {
    return !problem.isEmpty();
  }

  /** Returns how often a change was {@code applied} and {@code refused}. */
  public Map<String, Long> reloads() {
    return Map.of("applied", applied.get(), "refused", refused.get());
  }

  @Override
  public void metrics(MetricRegistry registry) {
    registry.gauge(
        "trace_etl_ozhera_rules_refused",
        "1 if the rules file of profile ozhera is invalid and the previous rules stay in"
            + " force, else 0.",
        () -> isRefused() ? 1 : 0);
    registry.counter(
        "trace_etl_ozhera_rules_reloads_total",
        "Changes of the rules file of profile ozhera that took effect.",
        "result",
        this::reloads);
  }

  /** Starts the thread if a file is configured. */
  @Override
  public void start(Endpoint here) {
    if (file != null) {
      thread.start();
    }
  }

  private void run() {
    try {
      while (!closed.await(intervalMillis, TimeUnit.MILLISECONDS)) {
        look();
      }
    } catch (InterruptedException e) {
      // Only the end of the process interrupts this thread.
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      problem = OzheraRulesFile.KEY + " = " + file + ": is no longer watched: " + e;
      log.error(
          "The rules stay unchanged until the server is restarted, because the thread that"
              + " watches the file failed; report it:\n{}",
          problem,
          e);
      throw e;
    }
  }

  /** Reads the file once, and applies a settled change. */
  void look() {
    String before = problem;
    try {
      byte[] content = OzheraRulesFile.content(file);
      boolean counts = Arrays.equals(content, seen);
      seen = content;
      if (!counts) {
        return;
      }
      if (!Arrays.equals(content, settled)) {
        take(content);
      }
      problem = wrong;
    } catch (IOException e) {
      seen = null;
      problem = OzheraRulesFile.unreadable(file, e);
    }
    if (!problem.isEmpty() && !problem.equals(before)) {
      refused.incrementAndGet();
      log.warn("The changed rules are refused, and the previous rules stay in force:\n{}", problem);
    }
  }

  private void take(byte[] content) {
    settled = content;
    try {
      inForce = OzheraRulesFile.parse(file, content);
      wrong = "";
      applied.incrementAndGet();
      log.info("The changed rules in {} are in force", file);
    } catch (IllegalArgumentException e) {
      wrong = e.getMessage();
    } catch (RuntimeException e) {
      wrong = OzheraRulesFile.KEY + " = " + file + ": cannot be applied: " + e;
    }
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(CLOSE_WAIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
