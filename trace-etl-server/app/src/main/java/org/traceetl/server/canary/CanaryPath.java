package org.traceetl.server.canary;

import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;

/**
 * One path into an agent. Its probes follow each other: the next one is sent when all spans of the
 * previous one are on pages. So a span that is missing is a span of the latest probe, and no later
 * span can hide it.
 *
 * <p>Confined to the canary's thread, except {@link #figures}.
 */
final class CanaryPath {
  private static final Logger log = LoggerFactory.getLogger(CanaryPath.class);

  /** Agents remember answered requests for ten minutes; an older repeat would count twice. */
  private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(8);

  /** Limit of probes that wait for the index or for Prometheus; further ones are not checked. */
  private static final int MAX_WAITING = 1_000;

  private static final double NANOS_PER_SECOND = 1e9;

  private final String name;
  private final SpanSender sender;
  private final ProbeSource probes;
  private final Clocks clocks;
  private final long deadlineNanos;
  private final long lostAfterNanos;
  private final Books books = new Books();
  private final SeriesCounts shown = new SeriesCounts();
  private final SeriesCounts.Restarting stored = new SeriesCounts.Restarting();
  private final Deque<Waiting> index = new ArrayDeque<>();
  private final Deque<Waiting> prometheus = new ArrayDeque<>();
  private final boolean isIndexRead;
  private final boolean isPrometheusRead;

  /** Null if the next step sends a new one. */
  private Probe probe;

  /** Since when the agent does not answer, from the first attempt after its last answer. */
  private long unansweredNanos;

  private boolean isUnanswered;

  /** When the agent may have accepted the open request for the first time. */
  private long maybeNanos;

  private long answeredNanos;
  private boolean isRejected;
  private long completedNanos;
  private long delayNanos;

  /** Documents that never arrived. */
  private long lostDocuments;

  /** Why the agent did not accept the latest attempt; empty if it did. */
  private String refusal = "";

  /** What the index or Prometheus lack; empty if nothing. */
  private String lack = "";

  /** Null if green. */
  private Stage red;

  private long redNanos;
  private Instant redSince;
  private volatile Figures figures = new Figures(0, 0, 0, 0, 0, null);

  /** Creates the next probe of a path. */
  interface ProbeSource {
    Probe next(String path);
  }

  /**
   * A probe on pages, which another store must return.
   *
   * @param seen spans on pages, this probe's included
   * @param sinceNanos when its deadline begins
   */
  private record Waiting(Probe probe, long seen, long sinceNanos) {}

  /**
   * What metrics show.
   *
   * @param red null if green
   */
  record Figures(
      long expected, long seen, long unanswered, long wrong, double delaySeconds, Stage red) {}

  CanaryPath(
      String name, SpanSender sender, ProbeSource probes, CanaryConfig config, Clocks clocks) {
    this.name = name;
    this.sender = sender;
    this.probes = probes;
    this.clocks = clocks;
    deadlineNanos = config.deadline().toNanos();
    lostAfterNanos = config.lostAfter().toNanos();
    isIndexRead = config.isIndexRead();
    isPrometheusRead = config.prometheus() != null;
    completedNanos = clocks.nanos();
  }

  String name() {
    return name;
  }

  /** Returns what metrics show. Any thread may call it. */
  Figures figures() {
    return figures;
  }

  void close() {
    sender.close();
  }

  /** Sends a new probe, or repeats the one without an answer. */
  void send() throws InterruptedException {
    if (books.isMaybeAccepted() && clocks.nanos() - maybeNanos > REPEAT_NANOS) {
      books.giveUpOpen();
      probe = null;
    }
    if (probe == null) {
      probe = probes.next(name);
      books.open(Probe.SPANS);
    } else if (!books.isOpen()) {
      return;
    }
    if (!isUnanswered) {
      isUnanswered = true;
      unansweredNanos = clocks.nanos();
    }
    SpanSender.Answer answer = sender.send(probe);
    refusal = answer.reason();
    switch (answer.outcome()) {
      case ACCEPTED -> {
        isUnanswered = false;
        isRejected = answer.rejected() > 0;
        refusal = isRejected ? "the agent rejected " + answer.rejected() + " spans" : "";
        books.accepted(Math.max(0, Probe.SPANS - answer.rejected()));
        answeredNanos = clocks.nanos();
      }
      case UNKNOWN -> {
        if (!books.isMaybeAccepted()) {
          maybeNanos = clocks.nanos();
        }
        books.maybeAccepted();
      }
      case REFUSED -> {}
    }
  }

  /** Takes the pages that could be read. */
  void show(Pages.Answers answers) {
    for (Pages.Page page : answers.pages()) {
      shown.add(page.counts().getOrDefault(name, Map.of()));
    }
    long twice = books.show(shown.sum());
    if (twice > 0) {
      log.error(
          "Pages show more spans than the agent accepted, so spans count twice; see"
              + " docs/runbook.md, TraceEtlCanaryMismatch; path={} spans={} expected={} seen={}",
          name,
          twice,
          books.answered(),
          books.seen());
    }
    if (probe == null || books.isOpen()) {
      return;
    }
    long nowNanos = clocks.nanos();
    if (books.missing() == 0) {
      complete(nowNanos);
    } else if (nowNanos - answeredNanos > lostAfterNanos) {
      log.error(
          "Spans that the agent accepted are on no page and count as lost; see docs/runbook.md,"
              + " TraceEtlCanaryMismatch; path={} spans={} expected={} seen={}",
          name,
          books.giveUpMissing(),
          books.answered(),
          books.seen());
      probe = null;
    }
  }

  private void complete(long nowNanos) {
    delayNanos = nowNanos - answeredNanos;
    completedNanos = nowNanos;
    // After late pages, the other stores still have time: otherwise they would be named.
    long sinceNanos = answeredNanos + Math.max(0, delayNanos - deadlineNanos / 2);
    Waiting waiting = new Waiting(probe, books.seen(), sinceNanos);
    if (isIndexRead && !isRejected && index.size() < MAX_WAITING) {
      index.add(waiting);
    }
    if (isPrometheusRead && prometheus.size() < MAX_WAITING) {
      prometheus.add(waiting);
    }
    probe = null;
  }

  /**
   * Asks the index for the probes that wait for it, oldest first, until one is not complete.
   *
   * @param server null if none answers
   */
  void checkIndex(TraceIndexReader reader, URI server) throws InterruptedException {
    try {
      while (server != null && !index.isEmpty()) {
        Waiting oldest = index.getFirst();
        int missing = reader.missing(server, oldest.probe);
        if (missing > 0 && clocks.nanos() - oldest.sinceNanos <= lostAfterNanos) {
          lack = "the index lacks " + missing + " documents";
          return;
        }
        if (missing > 0) {
          lostDocuments += missing;
          log.error(
              "Documents of failed and slow spans are not in the index and count as lost;"
                  + " path={} documents={} traces={}",
              name,
              missing,
              oldest.probe.documents());
        }
        index.removeFirst();
      }
    } catch (IOException e) {
      lack = "the index: " + Reason.of(e);
    }
  }

  /** Takes the counts of Prometheus. */
  void store(Map<String, Long> counts) {
    stored.add(counts);
    long sum = stored.sum();
    while (!prometheus.isEmpty() && sum >= prometheus.getFirst().seen) {
      prometheus.removeFirst();
    }
    if (!prometheus.isEmpty()) {
      lack = "Prometheus has " + sum + " of " + books.seen() + " spans";
    }
  }

  /** Notes that Prometheus could not be read. */
  void notStored(String reason) {
    lack = "Prometheus: " + reason;
  }

  /** Decides whether the path is red, logs a change and publishes the figures. */
  void judge(Pages.Answers answers) {
    long nowNanos = clocks.nanos();
    Stage now = overdue(answers, nowNanos);
    boolean isBeforePages = red != null && red.compareTo(Stage.PIPELINE) <= 0;
    if (now == null && isBeforePages && completedNanos - redNanos <= 0) {
      // Until a probe has passed, the fault may be there.
      now = red;
    }
    if (now != red) {
      change(now, answers.serverProblem(), nowNanos);
    }
    long waitingNanos =
        probe == null || books.isOpen() || books.missing() == 0 ? 0 : nowNanos - answeredNanos;
    figures =
        new Figures(
            books.answered(),
            books.seen(),
            books.unanswered(),
            books.wrong() + lostDocuments,
            Math.max(delayNanos, waitingNanos) / NANOS_PER_SECOND,
            red);
  }

  private Stage overdue(Pages.Answers answers, long nowNanos) {
    if (isRejected || isUnanswered && nowNanos - unansweredNanos > deadlineNanos) {
      return Stage.AGENT;
    }
    if (probe != null && !books.isOpen() && nowNanos - answeredNanos > deadlineNanos) {
      if (answers.isBrokerAway()) {
        return Stage.BROKER;
      }
      return answers.serverProblem().isEmpty() ? Stage.PIPELINE : Stage.SERVER;
    }
    if (isOverdue(index, nowNanos)) {
      // The index is read through a server.
      return answers.from() == null ? Stage.SERVER : Stage.INDEX;
    }
    return isOverdue(prometheus, nowNanos) ? Stage.PROMETHEUS : null;
  }

  private boolean isOverdue(Deque<Waiting> waiting, long nowNanos) {
    return !waiting.isEmpty() && nowNanos - waiting.getFirst().sinceNanos > deadlineNanos;
  }

  private String reason(Stage stage, String serverProblem) {
    String reason =
        switch (stage) {
          case AGENT -> refusal;
          case BROKER, PIPELINE -> "";
          case SERVER -> serverProblem;
          case INDEX, PROMETHEUS -> lack;
        };
    return reason.isEmpty() ? "spans are late" : reason;
  }

  private void change(Stage now, String serverProblem, long nowNanos) {
    if (now == null) {
      log.info(
          "The canary is green again: spans arrive everywhere; path={} was={} since={} expected={}"
              + " seen={}",
          name,
          red.label(),
          redSince,
          books.answered(),
          books.seen());
    } else {
      Instant since = red == null ? clocks.wall().instant() : redSince;
      redSince = since;
      redNanos = nowNanos;
      log.warn(
          "The canary is red: {}; {}; path={} stage={} since={} expected={} seen={} reason={}",
          now.what,
          now.remedy,
          name,
          now.label(),
          since,
          books.answered(),
          books.seen(),
          reason(now, serverProblem));
    }
    red = now;
  }
}
