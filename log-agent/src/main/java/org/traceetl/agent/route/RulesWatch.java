package org.traceetl.agent.route;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.ConfigException;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.RoutingFile;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.telemetry.AgentMetrics;

/**
 * Keeps the rules those of the routing file. It looks at the file's content: a directory that is
 * swapped beneath a symbolic link, as a ConfigMap is, changes neither the path nor always the time.
 * A content counts once two looks in a row saw it, so that a file that is just being written is not
 * taken for a shorter one; a request to look counts at once. One that is wrong is told and counted
 * once, and the rules before it stay.
 */
public final class RulesWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RulesWatch.class);

  private final RoutingConfig config;
  private final RoutingFile file;
  private final AgentMetrics metrics;
  private final Consumer<RoutingRules> listener;
  // A permit for each request to look now.
  private final Semaphore requests = new Semaphore(0);
  private final Thread thread = Thread.ofPlatform().daemon().name("routing").unstarted(this::run);
  private volatile boolean closed;
  private volatile RoutingRules rules;
  private volatile boolean refused;
  // Owned by the thread.
  private byte[] settled;
  private byte[] seen;
  private boolean unreadable;

  /**
   * Reads the file, if there is one, for the first time. Not started yet.
   *
   * @param listener told of the rules each time they have changed, on the watch's thread
   * @throws IOException when the file cannot be read or is wrong
   */
  public RulesWatch(RoutingConfig config, AgentMetrics metrics, Consumer<RoutingRules> listener)
      throws IOException {
    this.config = config;
    this.metrics = metrics;
    this.listener = listener;
    file = config.file().orElse(null);
    rules = file == null ? config.keys() : first();
    metrics.routingReloads.labels("applied");
    metrics.routingReloads.labels("refused");
    metrics.gauge(
        "routing_rules_fingerprint",
        "A number made of the routing rules in force: agents that show the same route alike.",
        () -> rules.fingerprint());
    metrics.gauge(
        "routing_file_refused",
        "1 while the routing file is wrong or cannot be read and older rules are in force, else 0.",
        () -> refused ? 1 : 0);
  }

  private RoutingRules first() throws IOException {
    settled = file.content();
    try {
      return RoutingFile.parse(settled, config.keys());
    } catch (ConfigException e) {
      throw new IOException(told(e), e);
    }
  }

  /** Begins to look, if there is a file. */
  public void start() {
    if (file != null) {
      thread.start();
    }
  }

  /** The rules in force. */
  public RoutingRules rules() {
    return rules;
  }

  /** Looks at the file now; what it finds counts at once. Returns before it has. */
  public void request() {
    requests.release();
  }

  @Override
  public void close() {
    closed = true;
    requests.release();
  }

  private void run() {
    try {
      while (!closed) {
        boolean requested = requests.tryAcquire(config.pollMillis(), TimeUnit.MILLISECONDS);
        if (!closed) {
          look(requested);
        }
      }
    } catch (InterruptedException e) {
      log.warn("The routing file is not looked at any more: interrupted");
    }
  }

  /**
   * One look.
   *
   * @param atOnce whether what is found counts without a second look
   */
  void look(boolean atOnce) {
    byte[] content;
    try {
      content = file.content();
    } catch (IOException | RuntimeException e) {
      seen = null;
      if (!unreadable || atOnce) {
        refuse("routing.file = " + file.path() + ": cannot be read: " + e);
      }
      unreadable = true;
      return;
    }
    boolean known = Arrays.equals(content, settled) && !unreadable;
    if (known && atOnce) {
      log.info("routing.file = {}: has not changed", file.path());
    }
    if (known || !atOnce && !Arrays.equals(content, seen)) {
      seen = content;
      return;
    }
    settled = content;
    seen = content;
    unreadable = false;
    take(content);
  }

  private void take(byte[] content) {
    try {
      RoutingRules read = RoutingFile.parse(content, config.keys());
      rules = read;
      refused = false;
      metrics.routingReloads.labels("applied").inc();
      log.info(
          "routing.file = {}: in force, with {} rules, {} exclusions, fingerprint {}",
          file.path(),
          read.applications().size(),
          read.excluded().size(),
          read.fingerprint());
      listener.accept(read);
    } catch (ConfigException e) {
      refuse(told(e));
    }
  }

  private void refuse(String why) {
    refused = true;
    metrics.routingReloads.labels("refused").inc();
    log.error("{}; the rules with fingerprint {} stay in force", why, rules.fingerprint());
  }

  private String told(ConfigException e) {
    return "routing.file = " + file.path() + ": " + String.join("; ", e.problems());
  }
}
