package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Program;

/** Polls servers and agents from its own thread: a paused program answers late. */
final class Observer {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final long PAUSE_MILLIS = 500;

  private final ChaosInstallation installation;
  private final HttpClient http;
  private final Set<Double> epochs = ConcurrentHashMap.newKeySet();
  private volatile Observation newest =
      new Observation(
          System.nanoTime(), false, Map.of(), 0, 0, List.of(false), List.of(), 0, 0, false);

  /** By server: the queues whose spans its last page showed. Confined to the observing thread. */
  private final Map<String, Set<String>> shown = new HashMap<>();

  private final Set<String> shownTwice = ConcurrentHashMap.newKeySet();

  private final OtherSeries others = new OtherSeries(ChangingRulesFile.APPLICATION);

  Observer(ChaosInstallation installation, HttpClient http) {
    this.installation = installation;
    this.http = http;
  }

  void start() {
    Thread.ofPlatform().daemon().name("observer").start(this::run);
  }

  Observation newest() {
    return newest;
  }

  /**
   * Queues that two servers showed at once: one server's page, then another's, then the first one's
   * again.
   */
  Set<String> shownTwice() {
    return shownTwice;
  }

  /** Returns the series of applications whose rules never change. */
  OtherSeries others() {
    return others;
  }

  /** Returns the number of hotspot decisions that a server showed. */
  int decisions() {
    return epochs.size();
  }

  private void run() {
    try {
      while (true) {
        newest = observe();
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Observation observe() throws InterruptedException {
    long askedNanos = System.nanoTime();
    Map<String, List<String>> queues = new TreeMap<>();
    double lag = 0;
    double calls = 0;
    double rulesRevision = Double.MAX_VALUE;
    boolean rulesWait = false;
    boolean hasRegion = false;
    boolean complete = true;
    for (Program server : installation.programs(FaultKind.Role.SERVER)) {
      List<String> mine = new ArrayList<>();
      Set<String> shownHere = new HashSet<>();
      List<PageSample> page = PageSample.of(page(server));
      complete &= !page.isEmpty();
      others.read(server.name(), page);
      for (PageSample sample : page) {
        switch (sample.name()) {
          case "trace_etl_queue_lag_messages" -> {
            mine.add(sample.labels().get("queue"));
            lag += Math.max(0, sample.value());
          }
          case "trace_etl_hotspot_epoch" -> {
            if (sample.value() > 0) {
              epochs.add(sample.value());
            }
          }
          case "traces_span_metrics_calls_total" -> {
            calls += sample.value();
            hasRegion |= sample.labels().containsKey(SentSpan.REGION);
            shownHere.add(sample.labels().get("trace_etl_queue"));
          }
          case "trace_etl_rules_revision" ->
              rulesRevision = Math.min(rulesRevision, sample.value());
          case "trace_etl_rules_waiting" -> rulesWait |= sample.value() > 0;
          default -> {}
        }
      }
      queues.put(server.name(), mine);
      lookForShownTwice(server.name(), shownHere);
    }
    List<Boolean> well = new ArrayList<>();
    List<Double> spools = new ArrayList<>();
    double unread = 0;
    for (Program agent : installation.programs(FaultKind.Role.AGENT)) {
      well.add(agent.isReady(http));
      String page = page(agent);
      complete &= !page.isEmpty();
      List<PageSample> samples = PageSample.of(page);
      spools.add(PageSample.sum(samples, "trace_etl_agent_spool_batches"));
      unread += PageSample.sum(samples, "trace_etl_agent_unread_file_bytes");
    }
    return new Observation(
        askedNanos,
        complete,
        queues,
        lag,
        calls,
        well,
        spools,
        unread,
        rulesWait ? 0 : rulesRevision,
        hasRegion);
  }

  /**
   * Reads the servers' pages in turn: between two pages of one server lies one of each other
   * server.
   */
  private void lookForShownTwice(String server, Set<String> queues) {
    Set<String> still = new HashSet<>(shown.getOrDefault(server, Set.of()));
    still.retainAll(queues);
    shown.forEach((other, others) -> {
      if (!other.equals(server)) {
        others.stream()
            .filter(still::contains)
            .forEach(queue -> shownTwice.add(queue + " by " + server + " and " + other));
      }
    });
    shown.put(server, queues);
  }

  /** Returns a program's metrics in OpenMetrics; empty if it does not answer. */
  private String page(Program program) throws InterruptedException {
    if (program.isPaused()) {
      return "";
    }
    URI metrics = installation.metrics(program);
    try {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(metrics)
                  .timeout(PATIENCE)
                  .header("Accept", "application/openmetrics-text")
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      return response.statusCode() == 200 ? response.body() : "";
    } catch (IOException e) {
      return "";
    }
  }
}
