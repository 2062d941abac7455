package org.traceetl.server.features.deploys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.prometheus.client.Collector.MetricFamilySamples;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.http.Access;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.SealedWindow;

/** Windows by hand, and the deploys that are found in them. */
final class VersionsTest {
  private static final long SLOT = Timeline.SLOT_MILLIS;

  /** Begin of a slot. */
  private static final long BEGIN = 1_795_219_200_000L;

  private final VersionQueue a = new VersionQueue(0);
  private final VersionQueue b = new VersionQueue(1);
  private long nowMillis = BEGIN;
  private boolean upToDate = true;
  private int noise;
  private Versions versions = versions(100, "service.version");

  private Versions versions(int maxOperations, String... dimensions) {
    return new Versions(
        new SeriesVersions.Reader(
            "service.version",
            Arrays.stream(dimensions).map(key -> new Dimension(key, null, null)).toList()),
        maxOperations,
        VersionQueue.BUCKETS,
        VersionQueue.SCHEMA,
        () -> upToDate,
        () -> Instant.ofEpochMilli(nowMillis),
        new SplittableRandom(1));
  }

  /** Adds a window whose pane begins now, and goes on to the next pane. */
  private void seal(VersionQueue queue) {
    versions.window(queue.seal(nowMillis));
    nowMillis += SLOT / 2;
  }

  /** Adds calls of a version in both halves of each slot, with some noise. */
  private void run(int slots, String version, long micros, int failed) {
    for (int i = 0; i < 2 * slots; i++) {
      noise = (noise + 7) % 11;
      a.calls(version, micros + noise, 50 + noise, 40 - noise, 0);
      b.calls(version, micros - noise, 50 - noise, 40 + noise, 0).failed(version, failed);
      versions.window(b.seal(nowMillis));
      seal(a);
    }
  }

  /** Lets the calls of the last slots count as complete. */
  private List<Deploy> deploys() {
    nowMillis += SLOT;
    List<Deploy> deploys = versions.deploys();
    nowMillis -= SLOT;
    return deploys;
  }

  private Difference only(Signal signal) {
    return deploys().getFirst().differences().stream()
        .filter(each -> each.signal() == signal)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aSlowerVersionThatFailsMoreIsWorse() {
    run(40, "1.3", 1_000, 1);
    run(20, "1.4", 1_200, 10);

    assertThat(deploys())
        .extracting(
            Deploy::application,
            Deploy::version,
            Deploy::previous,
            Deploy::fromMillis,
            Deploy::untilMillis,
            Deploy::baselineMinutes)
        .containsExactly(tuple("shop", "1.4", "1.3", BEGIN + 40 * SLOT, BEGIN + 60 * SLOT, 20.0));
    Difference latency = only(Signal.LATENCY_MEAN);
    assertThat(latency.verdict()).isEqualTo(Verdict.WORSE);
    assertThat(latency.estimate()).isCloseTo(0.2, within(0.001));
    assertThat(latency.lower()).isBetween(0.15, 0.2);
    assertThat(latency.upper()).isBetween(0.2, 0.25);
    Difference errors = only(Signal.ERRORS);
    assertThat(errors.verdict()).isEqualTo(Verdict.WORSE);
    assertThat(errors.estimate()).isCloseTo(10.0 / 190 - 1.0 / 181, within(0.001));
    assertThat(only(Signal.LATENCY_RANK).verdict()).isEqualTo(Verdict.NO_DIFFERENCE_YET);
  }

  @Test
  void windowsOfAnotherConfigurationHaveNoVersions() {
    VersionQueue other = new VersionQueue(2, VersionQueue.SCHEMA + 1);
    run(40, "1.3", 1_000, 1);
    for (int i = 0; i < 20; i++) {
      nowMillis += SLOT;
      versions.window(other.calls("eu", 1_200, 50, 40, 0).seal(nowMillis));
    }

    assertThat(deploys()).isEmpty();
    assertThat(versions.operations()).isOne();
  }

  @Test
  void aFasterVersionIsBetterAndAnEqualOneNeither() {
    run(40, "1.3", 1_000, 1);
    run(20, "1.4", 800, 1);
    assertThat(only(Signal.LATENCY_MEAN).verdict()).isEqualTo(Verdict.BETTER);
    run(30, "1.5", 800, 1);
    assertThat(deploys()).extracting(Deploy::version).containsExactly("1.5", "1.4");
    assertThat(deploys().getFirst().previous()).isEqualTo("1.4");
    assertThat(deploys().getFirst().differences())
        .extracting(Difference::verdict)
        .containsOnly(Verdict.NO_DIFFERENCE_YET)
        .hasSize(3);
  }

  @Test
  void theFirstVersionOfAnApplicationIsNoDeployAndARollbackIsOne() {
    run(30, "1.3", 1_000, 1);
    assertThat(deploys()).isEmpty();
    run(25, "1.4", 1_000, 1);
    run(5, "1.3", 1_000, 1);
    assertThat(deploys())
        .extracting(Deploy::version, Deploy::previous)
        .containsExactly(tuple("1.3", "1.4"), tuple("1.4", "1.3"));
    // It warms up in the first two slots, and three are needed.
    assertThat(deploys().getFirst().differences()).hasSize(3);
  }

  @Test
  void aDeployWithoutEnoughCallsIsListedWithoutDifferences() {
    run(12, "1.3", 1_000, 1);
    run(4, "1.4", 1_000, 1);
    assertThat(deploys()).hasSize(1);
    assertThat(deploys().getFirst().differences()).isEmpty();
  }

  @Test
  void anotherMixOfOperationsIsNoDifference() {
    for (int i = 0; i < 60; i++) {
      String version = i < 40 ? "1.3" : "1.4";
      int slow = i < 40 ? 10 : 90;
      a.count(List.of("shop", "GET /", "2", "0", version), 1_000 + i % 7, 100 - slow)
          .count(List.of("shop", "POST /", "2", "0", version), 90_000 + i % 5, 0, 0, slow)
          .count(List.of("shop", "POST /", "2", "2", version), 90_000, 0, 0, slow / 10);
      versions.window(a.seal(nowMillis));
      nowMillis += SLOT;
    }
    assertThat(deploys().getFirst().differences())
        .hasSize(3)
        .allSatisfy(each -> {
          assertThat(each.verdict()).isEqualTo(Verdict.NO_DIFFERENCE_YET);
          assertThat(each.estimate()).isCloseTo(0, within(0.001));
        });
  }

  @Test
  void aVersionMayBeALabelOfRulesAndOtherSpansAreNoRequests() {
    versions = versions(100, "region");
    for (int i = 0; i < 40; i++) {
      String version = i < 20 ? "1.3" : "1.4";
      for (String kind : List.of("1", "3", "4", "5")) {
        // Client spans have a version that no request has.
        String its = kind.equals("5") ? version : "client-" + i / 20;
        a.count(
            Arrays.asList(
                "shop", "f", kind, "0", null, "", "unit=s;bounds=1,2", "service.version", its),
            1_000,
            90);
      }
      versions.window(a.seal(nowMillis));
      nowMillis += SLOT;
    }
    assertThat(deploys()).extracting(Deploy::version).containsExactly("1.4");
    assertThat(versions.operations()).isEqualTo(2);
  }

  @Test
  void aReadImageReplacesTheSeriesAndEvictedOnesEnd() {
    QueueImage image = new QueueImage(VersionQueue.SCHEMA, VersionQueue.BUCKETS, 1 << 20);
    SealedWindow first = a.calls("1.3", 1_000, 90).seal(nowMillis);
    image.apply(first);
    versions.series(first.queue(), image);
    versions.window(a.calls("1.3", 1_000, 90).evictAll().seal(nowMillis));
    assertThat(versions.operations()).isEqualTo(1);
    // Its number belongs to no series now.
    Versions other = versions(100, "service.version");
    other.window(first);
    other.series(first.queue(), new QueueImage(VersionQueue.SCHEMA, VersionQueue.BUCKETS, 1 << 20));
    other.window(new VersionQueue(0).seal(nowMillis));
    assertThat(other.operations()).isEqualTo(1);
  }

  @Test
  void limitsLeaveOutVersionsAndOperations() {
    for (int i = 0; i < 10; i++) {
      a.calls("1." + i, 1_000, 90);
    }
    versions.window(a.seal(nowMillis));
    assertThat(versions.operations()).isEqualTo(8);
    assertThat(versions.leftOut()).isEqualTo(2);

    versions = versions(3, "service.version");
    for (int i = 0; i < 5; i++) {
      b.count(List.of("shop", "f" + i, "2", "0", "1"), 1, 1);
    }
    versions.window(b.seal(nowMillis));
    assertThat(versions.operations()).isEqualTo(3);
    assertThat(versions.leftOut()).isEqualTo(2);
    nowMillis += 180 * SLOT;
    versions.window(new VersionQueue(2).seal(nowMillis));
    assertThat(versions.operations()).isZero();
  }

  @Test
  void serversThatReadTheSameWindowsListTheSameAndNothingBeforeTheyHaveReadAll() {
    Versions other = versions(100, "service.version");
    List<SealedWindow> read = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      read.add(a.calls(i < 40 ? "1.3" : "1.4", 1_000 + i % 5, 90, i % 3).seal(nowMillis));
      nowMillis += SLOT;
    }
    read.forEach(versions::window);
    read.forEach(other::window);
    nowMillis += 2 * SLOT;
    upToDate = false;
    assertThat(versions.deploys()).isEmpty();
    String tag = versions.tag();
    upToDate = true;
    assertThat(versions.tag()).isNotEqualTo(tag);
    assertThat(versions.deploys()).hasSize(1).isEqualTo(other.deploys());
    nowMillis += 130 * SLOT;
    assertThat(versions.deploys()).as("an hour later").isEmpty();
  }

  @Test
  void metricsAndAnswerHaveVerdictAndBounds() {
    run(40, "1.3", 1_000, 1);
    run(20, "1.4", 1_200, 1);
    nowMillis += 2 * SLOT;
    MetricRegistry registry = new MetricRegistry();
    new DeploysFeature(versions).metrics(registry);
    assertThat(
            registry
                .collectors()
                .getSampleValue(
                    "trace_etl_deploy_verdict",
                    new String[] {"application", "version", "previous", "signal"},
                    new String[] {"shop", "1.4", "1.3", "latency_mean"}))
        .isEqualTo(1);
    List<MetricFamilySamples> differences =
        Collections.list(registry.collectors().metricFamilySamples()).stream()
            .filter(family -> family.name.equals("trace_etl_deploy_difference"))
            .toList();
    assertThat(differences.getFirst().samples).hasSize(9);

    DeploysResource.Answer answer = new DeploysResource(versions).deploys("shop", Access.ALL);
    assertThat(answer.upToDate()).isTrue();
    assertThat(answer.deploys().getFirst().start())
        .isEqualTo(Instant.ofEpochMilli(BEGIN + 40 * SLOT));
    assertThat(answer.deploys().getFirst().signals())
        .extracting(DeploysResource.Signal::signal, DeploysResource.Signal::verdict)
        .containsExactly(
            tuple("errors", "no_difference_yet"),
            tuple("latency_mean", "worse"),
            tuple("latency_rank", "no_difference_yet"));
    assertThat(new DeploysResource(versions).deploys("cart", Access.ALL).deploys()).isEmpty();
    assertThatThrownBy(() -> new DeploysResource(null).deploys(null, Access.ALL))
        .isInstanceOf(ResponseStatusException.class);
  }
}
