package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

class ScraperTest {
  private final List<String> failures = new ArrayList<>();
  private final World world = new World(1, new Timeline(1));
  private final Map<String, String> pages = new TreeMap<>();
  private final Scraper scraper =
      new Scraper(
          world,
          this::targets,
          Map.of("trace_etl_queue_agents", new Bound(0, 5)),
          application -> application.equals("ruled"),
          failures::add);

  private long answeredNanos;
  private boolean isCurrent = true;

  /** A page that another thread scrapes before the next answer; null for none. */
  private String shownMeanwhile;

  private List<Scraper.Target> targets() {
    List<Scraper.Target> targets = new ArrayList<>();
    pages.forEach((process, page) -> {
      byte[] bytes = page.getBytes(UTF_8);
      targets.add(whole ->
          () -> {
            String later = shownMeanwhile;
            shownMeanwhile = null;
            if (later != null) {
              scrape(process, later);
            }
            return new Scraper.Answer(process, answeredNanos, () -> isCurrent, bytes);
          });
    });
    return targets;
  }

  private void scrape(String... serversAndPages) throws InterruptedException {
    pages.clear();
    for (int i = 0; i < serversAndPages.length; i += 2) {
      pages.put(serversAndPages[i], serversAndPages[i + 1]);
    }
    scraper.scrape();
  }

  private static String calls(int queue, String value) {
    return "# TYPE calls_total counter\ncalls_total{service_name=\"é\",trace_etl_queue=\"a/"
        + queue
        + "\"} "
        + value
        + "\n";
  }

  @Test
  void valueOfAMovedQueueMayIncrease() throws InterruptedException {
    scrape("one", calls(0, "3"));
    scrape("one", calls(1, "1"), "two", calls(0, "5"));

    assertThat(failures).isEmpty();
  }

  @Test
  void counterThatDecreasesOnAnotherServerIsReported() throws InterruptedException {
    scrape("one", calls(0, "3"));
    scrape("two", calls(0, "2"));

    assertThat(failures).singleElement().asString().contains("decreased from 3.0 to 2.0", "two");
  }

  @Test
  void pagesThatAreOlderThanThoseOfALaterScrapeAreNotRead() throws InterruptedException {
    shownMeanwhile = calls(0, "5");
    scrape("one", calls(0, "3"));
    scrape("one", calls(0, "5"));

    assertThat(failures).isEmpty();
  }

  @Test
  void queueOnTwoPagesIsReportedOnce() throws InterruptedException {
    scrape("one", calls(0, "3") + calls(0, "3"), "two", calls(0, "3") + calls(1, "3"));

    assertThat(failures).containsExactly("Queue a/0 is shown by one and two");
  }

  @Test
  void queuesOfHalfEdgesHaveOwnersOfTheirOwn() throws InterruptedException {
    String edges = "traces_service_graph_request_total{trace_etl_queue=\"a/0\"} 3\n";
    scrape("one", calls(0, "3"), "two", edges);
    assertThat(failures).isEmpty();

    scrape("one", calls(0, "3") + edges, "two", edges);

    assertThat(failures).containsExactly("Queue edges/a/0 is shown by one and two");
  }

  @Test
  void pageOfAnEarlierInstantIsInSightWhileItIsCurrent() throws InterruptedException {
    answeredNanos = -TimeUnit.MILLISECONDS.toNanos(1);
    scrape("one", calls(0, "3"));
    assertThat(scraper.lastPages()).hasSize(1);

    isCurrent = false;
    scrape("one", calls(0, "3"));
    assertThat(scraper.lastPages()).isEmpty();

    answeredNanos = 0;
    scrape("one", calls(0, "3"));
    assertThat(scraper.lastPages()).hasSize(1);
  }

  @Test
  void seriesThatRulesMayEndKeepsItsLastValueAndBeginsAgain() throws InterruptedException {
    String other = "calls_total{trace_etl_queue=\"a/0\"} 1\n";
    scrape("one", calls(0, "3").replace("é", "ruled") + other);
    assertThat(scraper.ended()).isEmpty();

    scrape("one", other);
    scrape("one", calls(0, "2").replace("é", "ruled") + other);
    scrape("one", calls(0, "1").replace("é", "ruled") + other);

    assertThat(failures).isEmpty();
    assertThat(scraper.ended())
        .isEqualTo("calls_total{service_name=\"ruled\",trace_etl_queue=\"a/0\"} 5.0\n");
  }

  @Test
  void seriesThatRulesMayEndEndsWithTheLastSeriesOfItsQueue() throws InterruptedException {
    String other = "trace_etl_queue_series{queue=\"a/1\"} 0\n";
    scrape(
        "one", calls(0, "3").replace("é", "ruled") + "trace_etl_queue_series{queue=\"a/0\"} 1\n");

    // No server has the queue.
    scrape("one", other);
    assertThat(scraper.ended()).isEmpty();

    scrape("two", other + "trace_etl_queue_series{queue=\"a/0\"} 0\n");
    scrape("two", calls(0, "4").replace("é", "ruled"));

    assertThat(failures).isEmpty();
    assertThat(scraper.ended())
        .isEqualTo("calls_total{service_name=\"ruled\",trace_etl_queue=\"a/0\"} 3.0\n");
  }

  @Test
  void seriesMissingOnThePageOfItsQueueIsReported() throws InterruptedException {
    String other = "calls_total{trace_etl_queue=\"a/0\"} 1\n";
    scrape("one", calls(0, "3") + other);
    scrape("one", "");
    assertThat(failures).isEmpty();

    scrape("one", other);

    assertThat(failures).singleElement().asString().contains("é", "is missing");
  }

  @Test
  void counterOfAPageThatIsNoLongerCurrentIsCompared() throws InterruptedException {
    scrape("one", calls(0, "3"));
    answeredNanos = -TimeUnit.MILLISECONDS.toNanos(1);
    isCurrent = false;
    scrape("one", calls(0, "2"));

    assertThat(failures).singleElement().asString().contains("decreased from 3.0 to 2.0");
  }

  @Test
  void counterThatIsNoNumberIsReported() throws InterruptedException {
    scrape("one", calls(0, "3"));
    scrape("one", calls(0, "NaN"));

    assertThat(failures).singleElement().asString().contains("decreased from 3.0 to NaN");
  }

  @Test
  void hashOfARunHasThePagesWithoutMeasurementsOfTheJvm() throws InterruptedException {
    String page = calls(0, "3");
    long hash = new ScraperTest().hashAfter(page + "jvm_threads_current 7\n");

    assertThat(new ScraperTest().hashAfter(page + "jvm_threads_current 8\n")).isEqualTo(hash);
    assertThat(new ScraperTest().hashAfter(calls(0, "4"))).isNotEqualTo(hash);
    assertThat(new ScraperTest().hashAfter(calls(1, "3"))).isNotEqualTo(hash);
  }

  private long hashAfter(String page) throws InterruptedException {
    scrape("one", page);
    return world.timeline().hash();
  }

  @Test
  void metricAboveItsBoundIsReported() throws InterruptedException {
    String agents = "trace_etl_queue_agents{queue=\"a/0\"} %s\n";
    assertThat(scraper.unseenBounds()).containsExactly("trace_etl_queue_agents");
    scrape("one", agents.formatted("5"));
    assertThat(scraper.unseenBounds()).isEmpty();
    assertThat(failures).isEmpty();

    scrape("one", agents.formatted("6"));
    scrape("one", agents.formatted("NaN"));

    assertThat(failures).hasSize(2);
    assertThat(failures.getFirst()).contains("queue_agents{queue=\"a/0\"} of one is 6.0");
  }

  @Test
  void ownCountersStartAgainWithEachProcess() throws InterruptedException {
    String five = "trace_etl_windows_total{queue=\"a/0\"} 5\n";
    String four = "trace_etl_windows_total{queue=\"a/0\"} 4\n";
    scrape("one", five);
    scrape("two", four);
    scrape("two", five);
    assertThat(failures).isEmpty();

    scrape("two", four);

    assertThat(failures).hasSize(1);
  }
}
