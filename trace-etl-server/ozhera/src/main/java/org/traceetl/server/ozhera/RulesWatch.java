package org.traceetl.server.ozhera;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.ConfigException;
import org.traceetl.common.ReloadedFile;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The rules in force, from a file that is read again while the server runs; see {@link
 * ReloadedFile}. While the content is invalid or cannot be read, the previous rules stay in force.
 *
 * <p>The rules are thread-safe to read; one thread of its own watches the file.
 */
public final class RulesWatch implements Supplier<OzheraRules>, Component {
  private static final Logger log = LoggerFactory.getLogger(RulesWatch.class);
  private static final long INTERVAL_MILLIS = 5_000;

  /** How long the end waits for a read that hangs, for example on a network file system. */
  private static final long CLOSE_WAIT_MILLIS = 1_000;

  /** Null without a file. */
  private final ReloadedFile<OzheraRules> file;

  private final long intervalMillis;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicLong applied = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final Thread thread =
      Thread.ofPlatform().name("ozhera-rules").daemon().unstarted(this::run);
  private volatile OzheraRules inForce = OzheraRules.defaults();

  /** Whether an error has ended the thread. */
  private volatile boolean failed;

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
    this.intervalMillis = intervalMillis;
    this.file = file == null ? null : reloaded(file);
    if (file != null) {
      inForce = this.file.value();
    }
  }

  private ReloadedFile<OzheraRules> reloaded(Path path) {
    try {
      return new ReloadedFile<>(
          OzheraRulesFile.KEY,
          () -> OzheraRulesFile.content(path),
          content -> OzheraRulesFile.parse(path, content),
          rules -> inForce = rules);
    } catch (IOException e) {
      throw e.getCause() instanceof ConfigException invalid
          ? invalid
          : new IllegalArgumentException(OzheraRulesFile.unreadable(path, e), e);
    }
  }

  /** Returns the rules in force. */
  @Override
  public OzheraRules get() {
    return inForce;
  }

  /** Returns whether the file is invalid or cannot be read, and older rules are in force. */
  public boolean isRefused() {
    return failed || file != null && !file.problem().isEmpty();
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
    } catch (Error e) {
      failed = true;
      log.error(
          "The rules stay unchanged until the server is restarted, because the thread that"
              + " watches the file failed; report it",
          e);
      throw e;
    }
  }

  /** Reads the file once, and applies a settled change. */
  void look() {
    String before = file.problem();
    if (file.look(false)) {
      applied.incrementAndGet();
      log.info("The changed rules of profile ozhera are in force");
    }
    String problem = file.problem();
    if (!problem.isEmpty() && !problem.equals(before)) {
      refused.incrementAndGet();
      log.warn("The changed rules are refused, and the previous rules stay in force:\n{}", problem);
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
