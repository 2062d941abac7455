package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.perf.systest.chaos.ContainersFixture.tell;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Compares the spans sent to an installation in containers with its pages and its index. */
final class ContainerBooks {
  private static final int SPANS_PER_SECOND = 400;
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);
  private static final Duration EXACT_LIMIT = Duration.ofMinutes(4);

  /** The time for which counts must stay exact: late repeats have arrived by then. */
  private static final Duration STAYS = Containers.WINDOW.multipliedBy(4);

  /** Only the load uses them. */
  private static final PaneSchedule PANES = PaneSchedule.of(PaneSchedule.MIN_LENGTH);

  private final Containers containers;
  private final HttpClient http;
  private final Truth truth = new Truth();
  private long seed = 1;
  private long repeated;

  /** An event while the installation is under load. */
  interface Event {
    void happen() throws IOException, InterruptedException;
  }

  ContainerBooks(Containers containers, HttpClient http) {
    this.containers = containers;
    this.http = http;
  }

  /** Sends spans during an event, and returns when each sender has its last answer. */
  void sendDuring(Event event) throws IOException, InterruptedException {
    SpanLoad load =
        new SpanLoad(
            truth,
            new ExpectedPanes(PANES),
            null,
            Traffic.Intervals.OF_15_SECONDS,
            new SpanLoad.Sources(containers.otlpPorts(), List.of(), containers.traceLog(), false),
            SPANS_PER_SECOND,
            seed++);
    load.start();
    try {
      event.happen();
    } finally {
      load.stop();
    }
    await("all requests are answered").atMost(ANSWER_LIMIT).until(() -> load.underWay() == 0);
    assertThat(load.refused()).isNull();
    repeated += load.repeated();
  }

  /** Sends spans during an event, asserts exact counts of all spans so far, and prints a line. */
  void exactAfter(String what, Event event) throws IOException, InterruptedException {
    long begunNanos = System.nanoTime();
    sendDuring(event);
    assertExact();
    tell(
        "%s: exact, in all %s, %d s",
        what, line(), Duration.ofNanos(System.nanoTime() - begunNanos).toSeconds());
  }

  /** Waits until this number of further spans was accepted. */
  void awaitSpans(int spans) {
    long enough = truth.spans() + spans;
    await(spans + " more spans are accepted")
        .atMost(ANSWER_LIMIT)
        .until(() -> truth.spans() >= enough);
  }

  /** Waits until all spans so far are counted and indexed exactly, and stay so. */
  void assertExact() {
    await("all is counted exactly")
        .atMost(EXACT_LIMIT)
        .pollInterval(Containers.WINDOW)
        .during(STAYS)
        .untilAsserted(() -> assertThat(verdict().differences()).isEmpty());
  }

  private Verdict verdict() throws IOException, InterruptedException {
    List<String> pages = containers.serverPages();
    PageCounts counts = PageCounts.of(pages);
    return Verdict.of(
        truth,
        new Verdict.Found(
            counts.calls(),
            counts.durationCounts(),
            counts.durationSumsMillis(),
            Map.of(),
            ChaosInstallation.documentCopies(containers.elasticsearchUri(), http)));
  }

  /** Returns the line of a report. */
  String line() {
    return String.format(
        "spans=%d documents=%d repeated_requests=%d lost=0 doubled=0",
        truth.spans(), truth.documents().size(), repeated);
  }
}
