package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.features.push.PushFixture.sample;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.features.push.FakeReceiver.Fault;
import org.traceetl.server.features.push.FakeReceiver.Knowledge;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.SeriesDefinition;

class PushEndpointTest {
  private static final PushNaming NAMING = PushFixture.naming(Kind.CLASSIC);
  private static final PushNaming OTLP = PushFixture.otlp(Kind.CLASSIC);

  /** Samples of a series: calls, three buckets, sum and count. */
  private static final int OF_SERIES = 6;

  private long nowNanos = 1;
  private int progress;
  private final Clocks clocks =
      new Clocks(() -> nowNanos, () -> Instant.ofEpochSecond(1, nowNanos));

  private PushEndpoint endpoint(FakeReceiver receiver, String version, int maxSamples, int shards) {
    return new PushEndpoint(
        "default",
        new PushConfig.Endpoint(
            "default",
            URI.create("http://localhost:1/write"),
            version.equals("otlp") ? "otlp" : "remote-write",
            version.equals("otlp") ? "auto" : version,
            "cumulative",
            Map.of(),
            Map.of(),
            null,
            null,
            null,
            null,
            PushConfig.Tls.DEFAULTS,
            Duration.ofSeconds(30),
            maxSamples,
            shards),
        "servers-push-default",
        version.equals("otlp") ? OTLP : NAMING,
        receiver,
        clocks);
  }

  private SampleWriter open(PushEndpoint endpoint) {
    return endpoint.open(PushFixture.QUEUE, () -> progress++);
  }

  /** Does the steps of all shards until all wait, and lets time pass at most so long. */
  private void run(PushEndpoint endpoint, Duration most) throws InterruptedException {
    long endNanos = nowNanos + most.toNanos();
    while (true) {
      long idleNanos = SteppedTask.UNTIL_WOKEN;
      for (ShardSender shard : endpoint.shards()) {
        idleNanos = Math.min(idleNanos, shard.doWork());
      }
      if (idleNanos > endNanos - nowNanos) {
        return;
      }
      nowNanos += idleNanos;
    }
  }

  private void run(PushEndpoint endpoint) throws InterruptedException {
    run(endpoint, Duration.ofDays(1));
  }

  private static void addRecord(
      SampleWriter writer, List<SeriesDefinition> definitions, long offset, long atMillis) {
    for (SeriesDefinition definition : definitions) {
      sample(writer, definition, atMillis, offset, 0, 1);
    }
    writer.end(offset);
  }

  @Test
  void addressIsShownWithoutSecrets() {
    assertThat(
            PushEndpoint.shown(URI.create("https://user:secret@mimir/secret?token=secret#secret")))
        .isEqualTo("https://mimir");
    assertThat(PushEndpoint.shown(URI.create("http://[::1]:9090/api/v1/write")))
        .isEqualTo("http://[::1]:9090");
    assertThat(PushEndpoint.shown(URI.create("http://mimir?secret"))).isEqualTo("http://mimir");
  }

  @Test
  void recordsAreAnsweredInOrder() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 4);
    SampleWriter writer = open(endpoint);
    assertThat(writer.answered()).isEqualTo(JournalLog.NONE);

    // A record without samples needs no answer.
    writer.end(4);
    assertThat(writer.answered()).isEqualTo(4);
    addRecord(writer, PushFixture.definitions(20), 5, 15_000);
    writer.end(6);
    assertThat(writer.answered()).isEqualTo(4);

    run(endpoint);
    assertThat(writer.answered()).isEqualTo(6);
    assertThat(progress).isEqualTo(receiver.protocols.size());
    assertThat(receiver.written).hasSize(20 * OF_SERIES);
    assertThat(endpoint.telemetry().samples()).isEqualTo(20 * OF_SERIES);
  }

  @Test
  void requestsAreCutAtTheMaximumAndAtRecords() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 2 * OF_SERIES + 1, 1);
    SampleWriter writer = open(endpoint);
    addRecord(writer, PushFixture.definitions(1), 1, 15_000);
    run(endpoint);
    addRecord(writer, PushFixture.definitions(5), 2, 30_000);
    run(endpoint);
    writer.flush();
    run(endpoint);
    assertThat(receiver.protocols).hasSize(1 + 3);
    assertThat(writer.answered()).isEqualTo(2);
  }

  @Test
  void samplesOfManyRecordsWaitInOneRequest() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 4 * OF_SERIES, 1);
    SampleWriter writer = open(endpoint);
    // The first two need not wait.
    for (int record = 1; record <= 4; record++) {
      assertThat(writer.hasRoom()).isTrue();
      addRecord(writer, PushFixture.definitions(1), record, 15_000 * record);
    }
    assertThat(writer.hasRoom()).isTrue();
    addRecord(writer, PushFixture.definitions(1), 5, 75_000);
    assertThat(writer.hasRoom()).isFalse();

    endpoint.shards().getFirst().doWork();
    assertThat(writer.answered()).isEqualTo(1);
    assertThat(writer.hasRoom()).isTrue();
    writer.flush();
    endpoint.shards().getFirst().doWork();
    assertThat(writer.answered()).isEqualTo(2);
    run(endpoint);
    assertThat(writer.answered()).isEqualTo(5);
    assertThat(receiver.protocols).hasSize(3);
    assertThat(receiver.written).hasSize(OF_SERIES);
    assertThat(receiver.written.values()).allSatisfy(samples -> assertThat(samples).hasSize(5));
  }

  @Test
  void shardWithManyRequestsTakesNoMore() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 1, 1);
    SampleWriter writer = open(endpoint);
    addRecord(writer, PushFixture.definitions(4), 1, 15_000);
    assertThat(writer.hasRoom()).isFalse();
    endpoint.shards().getFirst().doWork();
    assertThat(writer.hasRoom()).isFalse();
    run(endpoint);
    assertThat(writer.hasRoom()).isTrue();
    writer.flush();
    run(endpoint);
    assertThat(writer.answered()).isEqualTo(1);
  }

  @Test
  void faultsOfTheReceiverAreWaitedFor() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
    SampleWriter writer = open(endpoint);
    receiver.fault(
        Fault.UNREACHABLE, Fault.UNAVAILABLE, Fault.UNAUTHORIZED, Fault.LOST_ANSWER, Fault.BUSY);
    addRecord(writer, PushFixture.definitions(2), 1, 15_000);
    addRecord(writer, PushFixture.definitions(2), 2, 30_000);
    long beginNanos = nowNanos;
    run(endpoint);

    assertThat(writer.answered()).isEqualTo(2);
    assertThat(receiver.written.values()).allSatisfy(samples -> assertThat(samples).hasSize(2));
    EndpointTelemetry telemetry = endpoint.telemetry();
    assertThat(telemetry.retries()).isEqualTo(5);
    assertThat(telemetry.requests())
        .isEqualTo(Map.of("none", 2L, "503", 1L, "401", 1L, "429", 1L, "204", 2L));
    assertThat(telemetry.refused().values()).containsOnly(0L);
    assertThat(telemetry.healthy()).isTrue();
    assertThat(telemetry.lastErrorMillis()).isPositive();
    // Pauses of 0.5 to 8 s, of which the last is longer than the receiver asks for.
    assertThat(Duration.ofNanos(nowNanos - beginNanos)).isEqualTo(Duration.ofMillis(15_500));
  }

  @Test
  void retryAfterOfTheReceiverIsKept() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
    receiver.fault(Fault.BUSY);
    addRecord(open(endpoint), PushFixture.definitions(1), 1, 15_000);
    long beginNanos = nowNanos;
    run(endpoint);
    assertThat(nowNanos - beginNanos)
        .isEqualTo(TimeUnit.MILLISECONDS.toNanos(FakeReceiver.RETRY_AFTER_MILLIS));
  }

  @Test
  void olderReceiversGetTheOlderVersion() throws InterruptedException {
    for (Knowledge knowledge :
        List.of(Knowledge.V1_BY_TYPE, Knowledge.V1_BY_IGNORANCE, Knowledge.V1_BY_ERROR)) {
      FakeReceiver receiver = new FakeReceiver(knowledge);
      PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
      SampleWriter writer = open(endpoint);
      addRecord(writer, PushFixture.definitions(3), 1, 15_000);
      addRecord(writer, PushFixture.definitions(3), 2, 30_000);
      run(endpoint);
      assertThat(receiver.protocols).containsExactly(Protocol.V2, Protocol.V1, Protocol.V1);
      assertThat(receiver.written).hasSize(3 * OF_SERIES);
      assertThat(endpoint.telemetry().samples()).isEqualTo(2 * 3 * OF_SERIES);
    }
  }

  @Test
  void fixedVersionIsKept() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "1.0", 5_000, 1);
    addRecord(open(endpoint), PushFixture.definitions(3), 1, 15_000);
    run(endpoint);
    assertThat(receiver.protocols).containsExactly(Protocol.V1);

    receiver = new FakeReceiver(Knowledge.V1_BY_TYPE);
    endpoint = endpoint(receiver, "2.0", 5_000, 1);
    SampleWriter writer = open(endpoint);
    addRecord(writer, PushFixture.definitions(3), 1, 15_000);
    run(endpoint, Duration.ofMinutes(5));
    assertThat(receiver.protocols).containsOnly(Protocol.V2).hasSizeGreaterThan(5);
    assertThat(writer.answered()).isEqualTo(JournalLog.NONE);
  }

  /** Sends eight series as after a crash before a mark: five have newer samples, three are new. */
  private void repeatAfterCrash(PushEndpoint endpoint) throws InterruptedException {
    List<SeriesDefinition> all = PushFixture.definitions(8);
    SampleWriter before = open(endpoint);
    addRecord(before, all.subList(0, 5), 1, 15_000);
    addRecord(before, all.subList(0, 5), 2, 30_000);
    run(endpoint);

    SampleWriter after = open(endpoint);
    addRecord(after, all, 1, 15_000);
    addRecord(after, all, 2, 30_000);
    run(endpoint);
    assertThat(after.answered()).isEqualTo(2);
  }

  @Test
  void refusedRepeatsDropNoNewSamples() throws InterruptedException {
    for (Knowledge knowledge : List.of(Knowledge.BOTH, Knowledge.V1_BY_TYPE)) {
      FakeReceiver receiver = new FakeReceiver(knowledge);
      PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
      repeatAfterCrash(endpoint);
      assertThat(receiver.written).hasSize(8 * OF_SERIES);
      assertThat(receiver.written.values()).allSatisfy(s -> assertThat(s).hasSize(2));
      EndpointTelemetry telemetry = endpoint.telemetry();
      assertThat(telemetry.refused()).containsEntry("out_of_order", 5L * OF_SERIES);
      assertThat(telemetry.samples()).isEqualTo((10 + 16 - 5L) * OF_SERIES);
      assertThat(telemetry.healthy()).isTrue();
    }
  }

  @Test
  void refusedSeriesIsAloneRefused() throws InterruptedException {
    for (Knowledge knowledge : List.of(Knowledge.BOTH, Knowledge.V1_BY_TYPE)) {
      FakeReceiver receiver = new FakeReceiver(knowledge);
      receiver.refused = "GET /5,";
      PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
      SampleWriter writer = open(endpoint);
      addRecord(writer, PushFixture.definitions(9), 1, 15_000);
      run(endpoint);
      assertThat(writer.answered()).isEqualTo(1);
      assertThat(receiver.written).hasSize(8 * OF_SERIES);
      assertThat(endpoint.telemetry().refused()).containsEntry("other", (long) OF_SERIES);
    }
  }

  @Test
  void refusedRepeatsDropNoNewPoints() throws InterruptedException {
    for (Knowledge knowledge : List.of(Knowledge.OTLP, Knowledge.OTLP_PARTIAL)) {
      FakeReceiver receiver = new FakeReceiver(knowledge);
      receiver.refused = "GET /2,";
      PushEndpoint endpoint = endpoint(receiver, "otlp", 5_000, 1);
      repeatAfterCrash(endpoint);
      // A counter and a histogram each.
      assertThat(receiver.written).hasSize(7 * 2);
      assertThat(receiver.written.values()).allSatisfy(s -> assertThat(s).hasSize(2));
      EndpointTelemetry telemetry = endpoint.telemetry();
      assertThat(telemetry.samples()).isEqualTo((8 + 14 - 4) * 2L);
      long refused = telemetry.refused().values().stream().mapToLong(count -> count).sum();
      assertThat(refused).isEqualTo((4 + 4) * 2L);
      assertThat(telemetry.healthy()).isTrue();
    }
  }

  @Test
  void tooLargeRequestsAreHalved() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    receiver.maxSeries = 2 * OF_SERIES;
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
    SampleWriter writer = open(endpoint);
    addRecord(writer, PushFixture.definitions(9), 1, 15_000);
    run(endpoint);
    assertThat(receiver.written).hasSize(9 * OF_SERIES);
    receiver.maxSeries = 1;
    addRecord(writer, PushFixture.definitions(1), 2, 30_000);
    run(endpoint);
    assertThat(writer.answered()).isEqualTo(2);
    assertThat(endpoint.telemetry().refused()).containsEntry("too_large", (long) OF_SERIES);
  }

  @Test
  void closedQueueSendsNothingMore() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 1);
    receiver.fault(Fault.UNAVAILABLE);
    SampleWriter left = open(endpoint);
    addRecord(left, PushFixture.definitions(1), 1, 15_000);
    addRecord(left, PushFixture.definitions(1), 2, 30_000);
    endpoint.shards().getFirst().doWork();
    left.close();
    addRecord(left, PushFixture.definitions(1), 3, 45_000);
    SampleWriter other = open(endpoint);
    addRecord(other, PushFixture.definitions(1), 7, 60_000);
    run(endpoint);

    assertThat(left.answered()).isEqualTo(JournalLog.NONE);
    assertThat(other.answered()).isEqualTo(7);
    assertThat(receiver.written.values())
        .allSatisfy(samples -> assertThat(samples).singleElement().asString().endsWith("@60000"));
    assertThat(other.hasRoom()).isTrue();
  }

  @Test
  void reusedSeriesNumbersGetTheirOwnLabels() throws InterruptedException {
    FakeReceiver receiver = new FakeReceiver(Knowledge.BOTH);
    PushEndpoint endpoint = endpoint(receiver, "auto", 5_000, 3);
    SampleWriter writer = open(endpoint);
    SeriesDefinition first = PushFixture.definition(0, "shop", "GET", "2", "0");
    sample(writer, first, 15_000, 1, 0, 0);
    writer.stale(first, 30_000);
    sample(writer, PushFixture.definition(0, "shop", "PUT", "2", "0"), 30_000, 2, 0, 0);
    writer.end(1);
    run(endpoint);
    assertThat(receiver.written).hasSize(2 * OF_SERIES);
    assertThat(receiver.written.entrySet())
        .allSatisfy(series ->
            assertThat(series.getValue().getLast())
                .matches(series.getKey().contains("GET") ? "stale@30000" : "(?!stale).*@30000"));
  }

  /** Faults at random, and restarts that repeat from a record: each series has all samples. */
  @Property(tries = 60)
  void everySampleArrivesOnce(@ForAll Random random) throws InterruptedException {
    Knowledge knowledge =
        List.of(Knowledge.BOTH, Knowledge.V1_BY_IGNORANCE, Knowledge.OTLP, Knowledge.OTLP_PARTIAL)
            .get(random.nextInt(4));
    boolean isOtlp = knowledge == Knowledge.OTLP || knowledge == Knowledge.OTLP_PARTIAL;
    String version = isOtlp ? "otlp" : "auto";
    FakeReceiver receiver = new FakeReceiver(knowledge);
    int maxSamples = 1 + random.nextInt(40);
    int shards = 1 + random.nextInt(3);
    List<SeriesDefinition> all = PushFixture.definitions(1 + random.nextInt(12));
    List<List<Integer>> records = new ArrayList<>();
    for (int record = 0; record < 6; record++) {
      List<Integer> ofRecord = new ArrayList<>();
      for (int series = 0; series < all.size(); series++) {
        if (random.nextInt(3) > 0) {
          ofRecord.add(series);
        }
      }
      records.add(ofRecord);
    }
    PushEndpoint endpoint = endpoint(receiver, version, maxSamples, shards);
    SampleWriter writer = open(endpoint);
    int next = 0;
    long mark = -1;
    while (mark != records.size() - 1) {
      if (writer.answered() != JournalLog.NONE) {
        mark = writer.answered();
      }
      if (random.nextInt(3) == 0) {
        receiver.nextFault(Fault.values()[random.nextInt(Fault.values().length)]);
      }
      if (random.nextInt(20) == 0) {
        // A crash: what is not answered is repeated.
        next = (int) mark + 1;
        writer.close();
        endpoint = endpoint(receiver, version, maxSamples, shards);
        writer = open(endpoint);
      } else if (next < records.size() && writer.hasRoom()) {
        for (int series : records.get(next)) {
          sample(writer, all.get(series), 15_000 * (next + 1), next + 1, 0, 1);
        }
        writer.end(next++);
      } else {
        endpoint.shards().get(random.nextInt(shards)).doWork();
        writer.flush();
        nowNanos += TimeUnit.SECONDS.toNanos(random.nextInt(20));
      }
    }
    for (int series = 0; series < all.size(); series++) {
      List<String> expected = new ArrayList<>();
      for (int record = 0; record < records.size(); record++) {
        if (records.get(record).contains(series)) {
          expected.add((record + 2.0) + "@" + 15_000 * (record + 1));
        }
      }
      String name = "span_name=GET /" + series + ",";
      List<List<String>> written =
          receiver.written.entrySet().stream()
              .filter(entry -> entry.getKey().contains(name))
              .filter(entry -> entry.getKey().contains("metrics_calls"))
              .map(Map.Entry::getValue)
              .toList();
      assertThat(written).isEqualTo(expected.isEmpty() ? List.of() : List.of(expected));
    }
  }
}
