package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.flow.TestAttributes.add;
import static org.traceetl.agent.route.TestTopology.edgeQueues;
import static org.traceetl.agent.route.TestTopology.topology;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.publish.MemoryTransport;
import org.traceetl.agent.publish.MemoryTransport.Mode;
import org.traceetl.agent.publish.MemoryTransport.Stored;
import org.traceetl.agent.publish.PublishMetrics;
import org.traceetl.agent.publish.Publisher;
import org.traceetl.agent.publish.TestPublisher;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.BrokerQueue.Topic;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.InconsistentBatchException;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.MetricValues;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

final class PipelineTest {
  private static final AgentIdentity IDENTITY = new AgentIdentity(7, 8, 3);

  private final MemoryTransport transport = new MemoryTransport();
  private AgentMetrics metrics;
  private final Outcomes outcomes = new Outcomes();
  private WhenFull whenFull = WhenFull.REFUSE;
  private long spoolBytes = 1L << 30;
  private Spool spool;
  private Publisher publisher;
  private Pipeline pipeline;
  // Thrown once, by the clock that dates a closing batch.
  private final AtomicReference<RuntimeException> batchFault = new AtomicReference<>();

  // Batches that are dated before.
  private int batchesBefore;

  @TempDir private Path directory;

  @AfterEach
  void stop() throws IOException {
    if (pipeline != null) {
      pipeline.close();
      publisher.close();
      spool.close();
      assertBooksBalance();
    }
  }

  private void assertBooksBalance() {
    assertThat(sample("spans_received_total", "source", "test"))
        .isEqualTo(
            sample("spans_accepted_total", "source", "test")
                + sum("spans_filtered_total")
                + sum("spans_rejected_total")
                + sample("spans_failed_total", "source", "test"));
    assertThat(sample("spans_accepted_total", "source", "test") + sample("spans_recovered_total"))
        .isEqualTo(
            sample("spans_published_total") + sample("spool_spans") + sum("spans_dropped_total"));
    if (spool.batches() == 0) {
      assertThat(sample("half_edges_accepted_total"))
          .isEqualTo(sample("half_edges_published_total") + sum("half_edges_dropped_total"));
    }
  }

  private double sum(String name) {
    return MetricValues.sum(metrics, name);
  }

  @Test
  void everySpanOfEveryPayloadIsInOneBatchOfItsResource() {
    start(new PipelineConfig(64 << 20, 4_096, 100, 5, 8), 8);
    Random random = new Random(42);
    Map<String, Integer> spansOf = new HashMap<>();
    int spans = 0;
    for (int p = 0; p < 200; p++) {
      StringBuilder payload = new StringBuilder();
      for (int i = random.nextInt(60); i >= 0; i--) {
        String application = "application-" + random.nextInt(30);
        payload.append(application + " operation-" + random.nextInt(50) + "\n");
        spansOf.merge(application, 1, Integer::sum);
        spans++;
      }
      assertThat(offer(payload.toString())).isEqualTo(Admission.ACCEPTED);
    }
    awaitSent(200);

    Contents contents = sent();
    assertThat(outcomes.accepted).isEqualTo(spans);
    assertThat(outcomes.rejected).isZero();
    assertThat(contents.spansOf).isEqualTo(spansOf);
    assertThat(pipeline.bytesInFlight()).isZero();
    assertThat(sample("spans_accepted_total", "source", "test")).isEqualTo(spans);
    assertThat(sample("spans_published_total")).isEqualTo(spans);
  }

  @Test
  void batchesOfAQueueAreNumberedWithoutGaps() {
    start(new PipelineConfig(64 << 20, 4_096, 10, 0, 8), 4);
    for (int i = 0; i < 100; i++) {
      offer("checkout operation-" + i + "\ncart operation-" + i + "\n");
    }
    awaitSent(100);

    Map<BrokerQueue, List<Long>> sequences = new HashMap<>();
    for (Stored batch : transport.stored()) {
      sequences.computeIfAbsent(batch.queue(), queue -> new ArrayList<>()).add(batch.sequence());
    }
    assertThat(sequences).isNotEmpty();
    sequences.forEach((queue, numbers) -> {
      Collections.sort(numbers);
      assertThat(numbers.getFirst()).isZero();
      assertThat(numbers.getLast()).isEqualTo(numbers.size() - 1L);
      assertThat(numbers).doesNotHaveDuplicates();
    });
  }

  @Test
  void payloadIsConfirmedOnceItIsInTheSpool() {
    transport.mode(Mode.UNREACHABLE);
    start(new PipelineConfig(64 << 20, 65_536, 1, 0, 8), 2);
    offer("a x\nb y\nc z\n");

    await().until(() -> outcomes.confirmed == 1);
    assertThat(outcomes.accepted).isEqualTo(3);
    assertThat(spool.spans()).isEqualTo(3);
    assertThat(pipeline.bytesInFlight()).isZero();
  }

  @Test
  void aResourceWithoutAServiceNameIsAnUnknownService() {
    start(1);
    offer("- operation\n");
    await().until(() -> transport.stored().size() == 1);

    assertThat(sent().spansOf).containsOnly(Map.entry("unknown_service", 1));
  }

  static List<Arguments> tooLargeResources() {
    return List.of(
        Arguments.of("as received", "", "a".repeat(ResourceCache.MAX_RESOURCE_TEXT_BYTES)),
        Arguments.of(
            "by redaction",
            "redact: [{pattern: z, replace: " + "long".repeat(50) + "}]",
            "z".repeat(1_000)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tooLargeResources")
  void spansOfATooLargeResourceAreRejected(String how, String yaml, String name) throws Exception {
    start(1);
    pipeline.filters(filters(yaml));
    offer(name + " x\n= y\nb z\n");
    awaitSent(1);

    outcomes.assertRejected(1, 2, "resource_too_large");
    assertThat(sent().spansOf).containsOnly(Map.entry("b", 1));
  }

  @Test
  void rejectedSpansAreCountedAndReportedByReason() {
    start(1);
    offer("a x\n!bad_id\n!bad_id\n!bad_time\nhuge x\n");
    await().until(() -> outcomes.settled() == 1);

    outcomes.assertRejected(1, 4, "bad_id, bad_time, span_too_large");
    assertThat(sample("spans_rejected_total", "source", "test", "reason", "bad_id")).isEqualTo(2);
    assertThat(sample("spans_received_total", "source", "test")).isEqualTo(5);
  }

  @Test
  void spanWithTooLargeEventsIsAcceptedWithoutThem() {
    start(1);
    offer("eventful x\n");
    await().until(() -> outcomes.settled() == 1);

    assertThat(outcomes.accepted).isEqualTo(1);
    assertThat(sample("span_events_left_out_total")).isEqualTo(1);
    assertThat(sample("span_events_accepted_total")).isZero();
  }

  @Test
  void malformedPayloadAffectsNoOther() {
    start(2);
    offer("a x\n");
    offer("?");
    offer("throw");
    offer("a y\n");
    await().until(() -> outcomes.settled() == 4);

    assertThat(outcomes.confirmed).isEqualTo(2);
    assertThat(outcomes.malformed).isEqualTo(2);
    await().until(() -> spool.batches() == 0);
    assertThat(sent().spansOf).containsOnly(Map.entry("a", 2));
  }

  @Test
  void batcherFaultRefusesAllSendersOfTheFrame() {
    start(new PipelineConfig(64 << 20, 65_536, 2, 10_000, 8), 1);
    batchFault.set(new InconsistentBatchException("a batcher's fault, as the test wants it"));
    offer("a x\n");
    // Fills the batch that has the first sender's span.
    offer("a y\n!bad_id\n");
    // Both senders repeat.
    offer("a x\n");
    offer("a y\n!bad_id\n");
    pipeline.close();
    await().until(() -> spool.batches() == 0);

    assertThat(outcomes.failed).isEqualTo(2);
    assertThat(outcomes.confirmed).isEqualTo(2);
    assertThat(outcomes.accepted).isEqualTo(2);
    assertThat(sent().spansOf).containsOnly(Map.entry("a", 2));
    assertThat(sample("spans_failed_total", "source", "test")).isEqualTo(2);
    assertThat(sample("frames_refused_total")).isEqualTo(1);
  }

  @Test
  void hiddenBatcherFaultFailsTheWholeFrame() {
    start(new PipelineConfig(64 << 20, 65_536, 2, 10_000, 8), 1);
    batchFault.set(new IllegalStateException("a batcher's fault, as the test wants it"));
    offer("a x\n");
    SpanDecoder hiding =
        (payload, length, sink) -> {
          try {
            new LineDecoder().decode(payload, length, sink);
          } catch (IllegalStateException e) {
            throw new MalformedPayloadException("hidden");
          }
        };
    pipeline.offer("test", "a y\n".getBytes(UTF_8), hiding, outcomes);
    pipeline.close();

    assertThat(outcomes.failed).isEqualTo(2);
    assertThat(outcomes.confirmed + outcomes.malformed).isZero();
    assertThat(sample("frames_refused_total")).isZero();
  }

  @Test
  void failedCheckpointRefusesTheWholeFrame() {
    start(new PipelineConfig(64 << 20, 65_536, 100, 10_000, 8), 1);
    Outcomes noteless =
        new Outcomes() {
          @Override
          public Checkpoint checkpoint() {
            throw new IllegalStateException("a source's fault, as the test wants it");
          }
        };
    offer("a x\n");
    pipeline.offer("test", "a y\n".getBytes(UTF_8), new LineDecoder(), noteless);
    offer("a z\n");
    pipeline.close();
    await().until(() -> spool.batches() == 0);

    assertThat(noteless.failed).isEqualTo(1);
    assertThat(noteless.confirmed).isZero();
    assertThat(outcomes.failed).isEqualTo(1);
    assertThat(sent().operations).containsOnly("a z");
  }

  @Test
  void payloadsAreRefusedAtTheLimitOfBytesInFlight() {
    start(new PipelineConfig(20_000, 65_536, 1_000, 10_000, 8), 2);
    String payload = "a x\n".repeat(1_500);

    assertThat(offer(payload)).isEqualTo(Admission.ACCEPTED);
    assertThat(offer(payload)).isEqualTo(Admission.ACCEPTED);
    assertThat(offer(payload)).isEqualTo(Admission.FULL);
  }

  @Test
  void payloadsAreRefusedWhileTheSpoolIsFull() {
    transport.mode(Mode.UNREACHABLE);
    spoolBytes = 8 << 20;
    start(2);
    int taken = fill();

    assertThat(spool.bytes()).isLessThanOrEqualTo(spoolBytes);
    assertThat(pipeline.problem()).isEqualTo("the spool is full");
    assertThat(outcomes.failed).isZero();
    transport.mode(Mode.CONFIRM);

    await().until(() -> spool.batches() == 0);
    await().until(() -> offer("a x\n") == Admission.ACCEPTED);
    await().until(() -> outcomes.confirmed == taken + 1);
  }

  @Test
  void oldestSpansAreDroppedAndCountedIfConfigured() {
    transport.mode(Mode.UNREACHABLE);
    spoolBytes = 8 << 20;
    whenFull = WhenFull.DROP_OLDEST;
    start(2);
    for (int i = 0; i < 50; i++) {
      assertThat(offer(big(i))).isEqualTo(Admission.ACCEPTED);
    }
    await().until(() -> outcomes.confirmed == 50);

    assertThat(spool.bytes()).isLessThanOrEqualTo(spoolBytes);
    assertThat(sample("spans_dropped_total", "reason", "full")).isPositive();
    transport.mode(Mode.CONFIRM);
    await().until(() -> spool.batches() == 0);
    assertThat(sent().operations).contains(big(49).lines().toList().getLast());
  }

  @Test
  void payloadRefusedByTheSpoolCanBeSentAgain() {
    transport.mode(Mode.UNREACHABLE);
    spoolBytes = 8 << 20;
    // Each span is a batch and repeats the resource: far more than the reserved room.
    start(new PipelineConfig(64 << 20, 65_536, 1, 0, 8), 2);
    String payload = "a".repeat(10_000) + " x\n" + "= x\n".repeat(99);
    while (outcomes.failed == 0) {
      int settled = outcomes.settled();
      assertThat(offer(payload)).isEqualTo(Admission.ACCEPTED);
      await().until(() -> outcomes.settled() > settled);
    }
    assertThat(outcomes.reason).contains("full");
    assertThat(sample("spans_failed_total", "source", "test")).isEqualTo(100);
    int kept = outcomes.confirmed;

    transport.mode(Mode.CONFIRM);
    await().until(() -> spool.batches() == 0);
    assertThat(offer(payload)).isEqualTo(Admission.ACCEPTED);
    await().until(() -> outcomes.confirmed == kept + 1 && spool.batches() == 0);
    assertThat(sent().spansOf.values()).containsExactly((kept + 1) * 100);
    assertThat(transport.stored().stream().map(s -> List.of(s.queue(), s.sequence())))
        .doesNotHaveDuplicates();
  }

  @Test
  void payloadTooLargeForASmallSpoolIsBounded() {
    spoolBytes = 8 << 20;
    start(new PipelineConfig(64 << 20, 65_536, 1, 0, 8), 2);
    offer("a".repeat(60_000) + " x\n" + "= x\n".repeat(99));
    await().until(() -> outcomes.settled() == 1);

    assertThat(outcomes.accepted).isBetween(30, 40);
    assertThat(outcomes.accepted + outcomes.rejected).isEqualTo(100);
    assertThat(outcomes.reason).isEqualTo("payload_too_large");
  }

  /** Offers payloads until the spool has no room. */
  private int fill() {
    int taken = 0;
    while (taken < 1_000) {
      int settled = outcomes.settled();
      Admission admission = offer(big(taken));
      if (admission == Admission.FULL && pipeline.bytesInFlight() == 0) {
        return taken;
      }
      if (admission == Admission.ACCEPTED) {
        taken++;
        await().until(() -> outcomes.settled() > settled);
      }
    }
    throw new AssertionError("there is no end of it");
  }

  /** Returns a payload of about 300 KB, which becomes batches of similar size. */
  private static String big(int number) {
    StringBuilder payload = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      payload.append("a operation-" + number + "-" + i + "x".repeat(1_000) + "\n");
    }
    return payload.toString();
  }

  @Test
  void aLargeResourceDoesNotCloseItsBatches() {
    start(new PipelineConfig(64 << 20, 4_096, 1_000, 10_000, 8), 1);
    offer("a".repeat(10_000) + " x\n" + "= x\n".repeat(20));
    pipeline.close();

    assertThat(sample("batches_closed_total", "cause", "commit")).isEqualTo(1);
    assertThat(sample("batches_closed_total", "cause", "size")).isZero();
  }

  @Test
  void payloadsAreRefusedUntilTheQueuesAreKnown() {
    start(0);

    assertThat(offer("a x\n")).isEqualTo(Admission.BROKER_AWAY);
    pipeline.topology(topology(1));
    assertThat(offer("a x\n")).isEqualTo(Admission.ACCEPTED);
  }

  @Test
  void payloadsAreAcceptedWhileTheBrokerIsUnreachable() {
    transport.mode(Mode.UNREACHABLE);
    start(1);
    offer("a x\n");
    await().until(() -> !publisher.available());
    assertThat(offer("a y\n")).isEqualTo(Admission.ACCEPTED);
    await().until(() -> outcomes.confirmed == 2);
    assertThat(transport.stored()).isEmpty();

    transport.mode(Mode.CONFIRM);

    await().until(() -> spool.batches() == 0);
    assertThat(sent().spansOf).containsOnly(Map.entry("a", 2));
  }

  @Test
  void resentBatchesKeepTheirNames() {
    transport.mode(Mode.STORE_AND_TIME_OUT);
    start(1);
    offer("a x\n");
    await().until(() -> transport.attempts() >= 2);
    transport.mode(Mode.CONFIRM);
    await().until(() -> spool.batches() == 0);

    Set<List<Object>> names = new HashSet<>();
    for (Stored batch : transport.stored()) {
      names.add(List.of(batch.queue(), batch.sequence()));
      assertThat(batch.body()).isEqualTo(transport.stored().getFirst().body());
    }
    assertThat(names).hasSize(1);
  }

  @Test
  void permanentlyRefusedSpansAreDroppedAndCounted() {
    transport.refuse(batch -> batch.spans() == 2);
    start(new PipelineConfig(64 << 20, 65_536, 100, 0, 8), 2);
    offer("refused x\nrefused y\n!bad_id\ntaken z\n");

    awaitSent(1);
    outcomes.assertRejected(3, 1, "bad_id");
    assertThat(sample("spans_dropped_total", "reason", "refused_by_broker")).isEqualTo(2);
    assertThat(sent().spansOf).containsOnly(Map.entry("taken", 1));
  }

  @Test
  void newQueuesAreUsedForTheNextPayload() {
    start(1);
    offer("a x\n");
    await().until(() -> outcomes.confirmed == 1);
    Topology others = new Topology(List.of(new BrokerQueue("broker-b", 5)));
    pipeline.topology(others);
    offer("a x\n");
    await().until(() -> outcomes.confirmed == 2 && spool.batches() == 0);

    assertThat(transport.stored().getLast().queue()).isEqualTo(others.queues().getFirst());
  }

  @Test
  void changingRoutesLoseNoSpan() {
    start(new PipelineConfig(64 << 20, 4_096, 10, 5, 8), 8);
    for (int i = 0; i < 300; i++) {
      pipeline.router(router(1 + i % 7, Set.of()));
      offer(operations(i));
    }
    awaitSent(300);

    Contents contents = sent();
    assertThat(contents.spansOf).containsOnly(Map.entry("a", 6_000));
    assertThat(contents.operations).hasSize(6_000);
    Set<BrokerQueue> used = new HashSet<>();
    transport.stored().forEach(batch -> used.add(batch.queue()));
    assertThat(used).hasSizeGreaterThan(2);
  }

  @Test
  void spansOfExcludedApplicationsAreFilteredAndConfirmed() {
    start(2);
    pipeline.router(router(2, Set.of("load-*")));
    offer("load-test x\n= y\ncheckout z\n!bad_id\n");
    offer("load-test x\n");
    awaitSent(2);

    assertThat(outcomes.confirmed).isEqualTo(2);
    assertThat(outcomes.rejected).isEqualTo(1);
    assertThat(sent().spansOf).containsOnly(Map.entry("checkout", 1));
    assertThat(filtered("excluded_application")).isEqualTo(3);
    pipeline.router(router(2, Set.of()));
    offer("load-test x\n");
    awaitSent(3);
    assertThat(sent().spansOf).containsEntry("load-test", 1);
  }

  @Test
  void filteredSpansAreCountedByReasonAndConfirmed() throws Exception {
    start(2);
    pipeline.filters(
        filters(
            """
            drop: [{application: a, name: drop*, keep: nothing}]
            sample: [{application: b, ratio: 0.5}]
            """));
    // All spans are of one trace, whose randomness is low.
    offer("a dropped\na x\n!bad_id\nb out\nb out\nc y\n");
    offer("a dropped\n");
    awaitSent(2);

    assertThat(outcomes.confirmed).isEqualTo(2);
    assertThat(outcomes.rejected).isEqualTo(1);
    assertThat(sent().operations).containsOnly("a x", "c y");
    assertThat(filtered("dropped")).isEqualTo(2);
    assertThat(filtered("sampled_out")).isEqualTo(2);
  }

  @Test
  void measuredSpansAreAcceptedAndCounted() throws Exception {
    start(1);
    pipeline.filters(filters("drop: [{name: drop*}]"));
    offer("a dropped\na dropped\na x\n");
    awaitSent(1);

    assertThat(outcomes.accepted).isEqualTo(3);
    assertThat(sample("spans_measured_total", "source", "test")).isEqualTo(2);
    assertThat(transport.stored().stream().mapToInt(Stored::spans).sum()).isEqualTo(3);
  }

  @Test
  void changingFiltersLoseNoSpan() throws Exception {
    start(new PipelineConfig(64 << 20, 4_096, 10, 5, 8), 8);
    List<Filters> rules =
        List.of(
            Filters.NONE,
            filters("drop: [{name: '*of1*', keep: nothing}]"),
            filters("limits: {max-name-bytes: 1000}"),
            filters("sample: [{ratio: 0.001}]"));
    for (int i = 0; i < 300; i++) {
      pipeline.filters(rules.get(i % rules.size()));
      offer(operations(i));
    }
    awaitSent(300);

    Contents contents = sent();
    int sent = contents.spansOf.getOrDefault("a", 0);
    assertThat(contents.operations).hasSize(sent);
    assertThat(sent + sum("spans_filtered_total")).isEqualTo(6_000);
  }

  @Test
  void redactedNamesDetermineTheRoute() throws Exception {
    start(8);
    pipeline.router(router(8, Set.of()));
    pipeline.filters(filters("redact: [{pattern: 'token=[a-z]+'}]"));
    StringBuilder payload = new StringBuilder();
    for (char c = 'a'; c <= 'z'; c++) {
      payload.append("a GET token=" + c + "\n");
    }
    offer(payload.toString());
    awaitSent(1);

    assertThat(sent().operations).containsOnly("a GET [redacted]");
    assertThat(transport.stored().stream().map(Stored::queue).distinct()).hasSize(1);
    assertThat(sample("span_changes_total", "source", "test", "change", "name_redacted"))
        .isEqualTo(26);
  }

  @Test
  void filteredResourceIsSentAndDeterminesTheRoute() throws Exception {
    start(1);
    pipeline.filters(filters("redact: [{pattern: '-[0-9]+', replace: ''}]"));
    offer("shop-1 x\nshop-2 y\n");
    awaitSent(1);

    assertThat(sent().spansOf).containsOnly(Map.entry("shop", 2));
  }

  private static Filters filters(String yaml) throws ConfigException {
    return new Filters(FiltersFile.parse(yaml.getBytes(UTF_8)));
  }

  private static Router router(int queues, Set<String> excluded) {
    return new Router(
        new RoutingRules(
            new RoutingRules.Rule(queues, RoutingRules.Spread.SERIES, false), Map.of(), excluded));
  }

  @Test
  void everyHalfEdgeIsSentOnce() {
    start(new PipelineConfig(64 << 20, 4_096, 100, 5, 8), 8);
    sendHalfEdges(5);
    Set<String> operations = new HashSet<>();
    for (int p = 0; p < 100; p++) {
      StringBuilder payload = new StringBuilder();
      for (int i = 0; i < 20; i++) {
        String line = "application-" + i % 3 + " operation-" + p + "-" + i;
        operations.add(line);
        payload.append(line).append('\n');
      }
      offer(payload + "!bad_id\n");
    }
    awaitSent(100);

    assertThat(operations).hasSize(2_000);
    assertThat(halfEdges()).hasSize(2_000).doesNotHaveDuplicates();
    assertThat(sample("half_edges_accepted_total")).isEqualTo(2_000);
    assertThat(sample("half_edges_published_total")).isEqualTo(2_000);
    assertThat(sample("spans_published_total")).isEqualTo(2_000);
    assertThat(sent().spansOf.values().stream().mapToInt(spans -> spans).sum()).isEqualTo(2_000);
  }

  static List<Arguments> failures() {
    return List.of(
        Arguments.of("while a batch of half-edges is closed", 0, false),
        Arguments.of("while a batch of spans is closed", 1, false),
        Arguments.of("at the checkpoint", Integer.MAX_VALUE, true));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void aFrameThatFailsSendsNoHalfEdgesAndItsRepeatEachOnce(
      String when, int batchesBefore, boolean atCheckpoint) {
    start(new PipelineConfig(64 << 20, 65_536, 2, 10_000, 8), 1);
    sendHalfEdges(1);
    this.batchesBefore = batchesBefore;
    batchFault.set(new IllegalStateException("a batcher's fault, as the test wants it"));
    Outcomes failing =
        new Outcomes() {
          @Override
          public Checkpoint checkpoint() {
            if (atCheckpoint) {
              throw new IllegalStateException("a source's fault, as the test wants it");
            }
            return null;
          }
        };
    offer("a x\n");
    pipeline.offer("test", "a y\n".getBytes(UTF_8), new LineDecoder(), failing);
    await().until(() -> outcomes.failed + failing.failed == 2);
    assertThat(sample("half_edges_accepted_total")).isZero();
    batchFault.set(null);
    offer("a x\n");
    offer("a y\n");
    pipeline.close();
    await().until(() -> spool.batches() == 0);

    assertThat(outcomes.accepted).isEqualTo(2);
    assertThat(halfEdges()).hasSize(2).doesNotHaveDuplicates();
    assertThat(sample("half_edges_accepted_total")).isEqualTo(2);
    assertThat(sample("half_edges_published_total")).isEqualTo(2);
  }

  @Test
  void halfEdgesFollowTheServersQueues() {
    start(4);
    offer("a x\n");
    awaitSent(1);
    assertThat(halfEdges()).isEmpty();
    sendHalfEdges(3);
    offer("a x\na y\n");
    awaitSent(2);
    assertThat(halfEdges()).hasSize(2);
    pipeline.edges(Edges.NONE);
    offer("a x\n");
    awaitSent(3);

    assertThat(halfEdges()).hasSize(2);
    assertThat(sent().spansOf).containsOnly(Map.entry("a", 4));
  }

  @Test
  void droppedHalfEdgesAreCounted() {
    transport.mode(Mode.UNREACHABLE);
    spoolBytes = 8 << 20;
    whenFull = WhenFull.DROP_OLDEST;
    start(2);
    sendHalfEdges(2);
    for (int i = 0; i < 50; i++) {
      assertThat(offer(big(i))).isEqualTo(Admission.ACCEPTED);
    }
    await().until(() -> outcomes.confirmed == 50);
    transport.mode(Mode.CONFIRM);
    await().until(() -> spool.batches() == 0);

    assertThat(sample("half_edges_accepted_total")).isEqualTo(50 * 300);
    assertThat(sample("half_edges_dropped_total", "reason", "full")).isPositive();
  }

  private void sendHalfEdges(int queues) {
    EdgeRoute route = new EdgeRoute(edgeQueues(queues));
    publisher.edges(route.topology());
    pipeline.edges(new Edges(EdgesConfig.defaults(), route));
  }

  /** Returns the half-edges of all batches, of which none is a repeat. */
  private List<SentHalf> halfEdges() {
    return transport.stored().stream()
        .filter(batch -> batch.queue().topic() == Topic.EDGES)
        .flatMap(batch -> SentHalf.read(batch.body()).stream())
        .toList();
  }

  @Test
  void stopSettlesEveryAcceptedPayload() throws InterruptedException {
    start(new PipelineConfig(64 << 20, 65_536, 1_000, 10_000, 8), 4);
    for (int i = 0; i < 20; i++) {
      offer("a x\nb y\n");
    }
    pipeline.close();
    assertThat(offer("a x\n")).isEqualTo(Admission.STOPPING);

    assertThat(publisher.drain(Long.MAX_VALUE)).isTrue();
    assertThat(outcomes.confirmed).isEqualTo(20);
    assertThat(sent().spansOf).isEqualTo(Map.of("a", 20, "b", 20));
  }

  @Test
  void batchesAreNotHandedOverBeforeTheCommit() {
    start(1);
    awaitHandedOverAfter(spool.nowMillis());
    AtomicLong firstMillis = new AtomicLong();
    AtomicLong lastMillis = new AtomicLong();
    SpanDecoder slow =
        (payload, length, sink) -> {
          firstMillis.set(spool.handedOverUntilMillis());
          while (spool.nowMillis() <= firstMillis.get()) {
            Thread.onSpinWait();
          }
          new LineDecoder().decode(payload, length, sink);
          lastMillis.set(spool.handedOverUntilMillis());
        };
    pipeline.offer("test", "a x\n".getBytes(UTF_8), slow, outcomes);
    awaitSent(1);

    assertThat(lastMillis).hasValue(firstMillis.get());
    awaitHandedOverAfter(lastMillis.get());
  }

  @Test
  void batchesThatAreGivenUpAreNotAwaited() {
    start(1);
    batchFault.set(new IllegalStateException("the test's fault"));
    offer("a x\n");
    awaitSent(1);

    assertThat(outcomes.failed).isEqualTo(1);
    awaitHandedOverAfter(spool.nowMillis());
  }

  private void awaitHandedOverAfter(long millis) {
    await().until(() -> spool.handedOverUntilMillis() > millis);
  }

  @Test
  void unpublishedBatchesArePublishedByTheNextRun() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    start(1);
    offer("a x\n");
    pipeline.close();
    assertThat(publisher.drain(0)).isFalse();
    assertThat(outcomes.confirmed).isEqualTo(1);
    stop();

    transport.mode(Mode.CONFIRM);
    start(1);
    await().until(() -> spool.batches() == 0);
    assertThat(sample("spans_recovered_total")).isEqualTo(1);
    assertThat(sent().spansOf).containsOnly(Map.entry("a", 1));
  }

  /** Returns a payload of 20 spans with different names. */
  private static String operations(int number) {
    // A separate number would be an identifier, and all names one series.
    return IntStream.range(0, 20)
        .mapToObj(i -> "a operation" + number + "of" + i + "\n")
        .collect(Collectors.joining());
  }

  private void start(int queues) {
    start(PipelineConfig.defaults(), queues);
  }

  private void start(PipelineConfig config, int queues) {
    metrics = new AgentMetrics();
    try {
      spool =
          TestSpool.open(
              TestSpool.config(directory, spoolBytes, whenFull),
              IDENTITY,
              metrics.add(new SpoolMetrics()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    publisher =
        TestPublisher.create(
            transport, spool, config.maxBytesInFlight(), metrics.add(new PublishMetrics()));
    pipeline =
        new Pipeline(
            config,
            IDENTITY,
            spool,
            metrics.add(new PipelineMetrics()),
            Clocks.SYSTEM,
            this::batchMillis);
    pipeline.router(new Router(RoutingRules.defaults()));
    if (queues > 0) {
      pipeline.topology(topology(queues));
      publisher.topology(topology(queues));
    }
    publisher.start();
    pipeline.start();
  }

  private long batchMillis() {
    RuntimeException fault = batchesBefore-- > 0 ? null : batchFault.getAndSet(null);
    if (fault != null) {
      throw fault;
    }
    return System.currentTimeMillis();
  }

  private Admission offer(String payload) {
    return pipeline.offer("test", payload.getBytes(UTF_8), new LineDecoder(), outcomes);
  }

  private void awaitSent(int payloads) {
    await().until(() -> outcomes.settled() == payloads && spool.batches() == 0);
  }

  private Contents sent() {
    return read(
        transport.stored().stream().filter(batch -> batch.queue().topic() == Topic.SPANS).toList());
  }

  private double filtered(String reason) {
    return sample("spans_filtered_total", "source", "test", "reason", reason);
  }

  private double sample(String name, String... labels) {
    return value(metrics, name, labels);
  }

  private static final class Contents {
    final Map<String, Integer> spansOf = new HashMap<>();
    final Set<String> operations = new HashSet<>();
  }

  private static Contents read(List<Stored> batches) {
    Contents contents = new Contents();
    for (Stored batch : batches) {
      SpanBatchReader reader = new SpanBatchReader();
      assertThat(reader.wrap(batch.body(), 0, batch.body().length)).isEqualTo(Rejection.NONE);
      assertThat(reader.agentHigh()).isEqualTo(IDENTITY.high());
      assertThat(reader.agentLow()).isEqualTo(IDENTITY.low());
      assertThat(reader.epoch()).isEqualTo(IDENTITY.epoch());
      assertThat(reader.sequence()).isEqualTo(batch.sequence());
      String application = text(reader, reader.application());
      assertThat(reader.resourceAttributeCount()).isBetween(0, 1);
      int spans = 0;
      while (reader.next()) {
        spans++;
        assertThat(reader.attributeCount()).isEqualTo(1);
        assertThat(text(reader, reader.attributes()[1])).isEqualTo(text(reader, reader.name()));
        contents.operations.add(application + " " + text(reader, reader.name()));
        contents.spansOf.merge(application, 1, Integer::sum);
      }
      assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
      assertThat(spans).isEqualTo(batch.spans());
    }
    return contents;
  }

  private static String text(SpanBatchReader reader, int index) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }

  /**
   * Decodes test payloads. A line {@code application operation} is a span, {@code !reason} a
   * rejected one. Application {@code -} is none, and {@code =} the previous one. The line {@code ?}
   * cannot be decoded.
   */
  private static final class LineDecoder implements SpanDecoder {
    @Override
    public void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException {
      String text = new String(payload, 0, length, UTF_8);
      if (text.equals("?")) {
        throw new MalformedPayloadException("no lines");
      }
      if (text.equals("throw")) {
        throw new IllegalStateException("a decoder's fault, as the test wants it");
      }
      text.lines().forEach(line -> decodeLine(line, sink));
    }

    private static void decodeLine(String line, SpanSink sink) {
      if (line.startsWith("!")) {
        sink.rejected(line.substring(1));
        return;
      }
      String[] parts = line.split(" ", 2);
      if (!parts[0].equals("=")) {
        Attributes resource = new Attributes();
        if (!parts[0].equals("-")) {
          add(resource, "service.name", parts[0]);
        }
        sink.resource(resource);
      }
      SpanView span = new SpanView();
      span.traceIdHigh = 1;
      span.traceIdLow = 2;
      span.spanId = 3;
      span.kind = 2;
      span.parentSpanId = parts[1].hashCode() | 1L << 32;
      span.name = parts[1].getBytes(UTF_8);
      span.nameLength = span.name.length;
      String value =
          parts[0].equals("huge") ? "x".repeat(2 * Batcher.MAX_SPAN_TEXT_BYTES) : parts[1];
      add(span.attributes, "key", value);
      if (parts[0].equals("eventful")) {
        byte[] name = new byte[Batcher.MAX_SPAN_TEXT_BYTES];
        assertThat(span.events.add(name, 0, name.length)).isTrue();
      }
      sink.span(span);
    }
  }

  private static class Outcomes implements Completion {
    volatile int confirmed;
    volatile int malformed;
    volatile int failed;
    int accepted;
    int rejected;
    String reason;

    @Override
    public synchronized void confirmed(int accepted, int rejected, String reason) {
      this.accepted += accepted;
      this.rejected += rejected;
      this.reason = reason;
      confirmed++;
    }

    @Override
    public synchronized void malformed(String reason) {
      malformed++;
    }

    @Override
    public synchronized void failed(String reason) {
      this.reason = reason;
      failed++;
    }

    void assertRejected(int expectedAccepted, int expectedRejected, String expectedReason) {
      assertThat(accepted).isEqualTo(expectedAccepted);
      assertThat(rejected).isEqualTo(expectedRejected);
      assertThat(reason).isEqualTo(expectedReason);
    }

    synchronized int settled() {
      return confirmed + malformed + failed;
    }
  }
}
