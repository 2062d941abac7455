package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.source.otlp.RandomRequests;
import org.traceetl.agent.source.ring.TestRing;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingSpan;

/**
 * If a decoder first reads only the first keys of spans, batches and counts are the same as if it
 * reads all attributes at once.
 */
final class FirstReadingProperties {
  private static final String SOURCE = "test";
  private static final List<String> KEYS_OF_RINGS =
      List.of("k1", "k2", "k3", "user.id", "http.url", "server.address", "db.system");
  private static final List<List<String>> DIMENSIONS =
      List.of(
          List.of(),
          List.of("k2", "service.name"),
          List.of("k1", "k3", "caf\u00e9", "server.address"),
          List.of("k2", "k\ufffd"));
  private static final int PAYLOADS = 4;
  private static final List<String> RULES =
      List.of(
          "drop: [{name: a1*, keep: nothing}]",
          "drop: [{attributes: {k2: '*1'}}]",
          "drop: [{attributes: {k2: '*1'}, keep: nothing}]",
          "drop: [{name: a1*, keep: metrics, dimensions: [k3]}]",
          "sample: [{ratio: 0.5}]",
          "sample: [{application: y, ratio: 0.01, always: {slower-than: 1ms}}]",
          "attributes: [{span: [k*]}]",
          "attributes: [{span: [k1, k2, absent]}]",
          "attributes: [{resource: []}]",
          "limits: {max-attributes: 2}",
          "limits: {max-value-bytes: 3}",
          "limits: {max-name-bytes: 2}",
          "redact: [{pattern: '[0-9]', attributes: [k2]}]",
          "redact: [{pattern: '[0-9]', attributes: ['k*']}]",
          "redact: [{pattern: '[0-9]', in: [names, status-messages]}]");

  // For the whole class: the outcomes of first readings.
  private static long taken;
  private static long readAgain;
  private static long named;
  private static long withDimensions;

  @Property(tries = 400)
  void otlpGivesTheSameBatchesAndCounts(
      @ForAll("rules") List<String> rules, @ForAll("keys") List<String> keys, @ForAll long seed)
      throws ConfigException {
    List<byte[]> payloads = requests(seed);
    List<String> outcomes = new ArrayList<>();
    for (boolean first : new boolean[] {false, true}) {
      OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
      Run run = new Run(rules, keys, seed, first);
      payloads.forEach(payload -> run.take(payload, decoder));
      outcomes.add(run.outcome() + decoder.droppedAttributes());
    }
    assertThat(outcomes.get(1)).isEqualTo(outcomes.get(0));
  }

  /** Also of spans that are read in part, of measured ones, and of those that are read again. */
  @Property(tries = 300)
  void spansByDemandLeaveTheHalfEdgesOfWholeSpans(
      @ForAll("rules") List<String> rules, @ForAll("keys") List<String> keys, @ForAll long seed)
      throws ConfigException {
    List<byte[]> payloads = requests(seed);
    List<List<SentHalf>> halves = new ArrayList<>();
    for (DetailConfig.Detail detail : DetailConfig.Detail.values()) {
      OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
      Run run = new Run(rules, keys, seed, true, detail, true, Long.MAX_VALUE);
      payloads.forEach(payload -> run.take(payload, decoder));
      halves.add(run.halves());
    }
    assertThat(halves.get(1)).containsExactlyInAnyOrderElementsOf(halves.get(0));
    named += halves.get(0).stream().filter(half -> half.peer() != null).count();
    withDimensions += halves.get(0).stream().filter(half -> !half.dimensions().isEmpty()).count();
  }

  private static List<byte[]> requests(long seed) {
    RandomRequests requests = new RandomRequests(seed, EdgeAttributes.NO_DIMENSIONS.readKeys());
    return Stream.generate(requests::next).limit(PAYLOADS).toList();
  }

  @Property(tries = 150)
  void ringsGiveTheSameBatchesAndCounts(
      @ForAll("rules") List<String> rules, @ForAll("keys") List<String> keys, @ForAll long seed)
      throws ConfigException, IOException, MalformedRingException {
    Random random = new Random(seed);
    TestRing ring = ring(random);
    List<byte[]> payloads = new ArrayList<>();
    for (int i = 0; i < PAYLOADS; i++) {
      byte[] payload = ring.payload().clone();
      for (int damages = random.nextInt(4); damages > 0; damages--) {
        payload[random.nextInt(payload.length)] ^= (byte) (1 << random.nextInt(8));
      }
      payloads.add(payload);
    }
    List<String> outcomes = new ArrayList<>();
    for (boolean first : new boolean[] {false, true}) {
      LongAdder leftOut = new LongAdder();
      SpanDecoder decoder = ring.decoder(leftOut);
      Run run = new Run(rules, keys, seed, first);
      payloads.forEach(payload -> run.take(payload, decoder));
      outcomes.add(run.outcome() + leftOut.sum());
    }
    assertThat(outcomes.get(1)).isEqualTo(outcomes.get(0));
  }

  /** The properties would hold in vain if nothing was skipped, or nothing read again. */
  @AfterContainer
  static void bothOutcomesOccur() {
    assertThat(taken).isPositive();
    assertThat(readAgain).isPositive();
    assertThat(named).isPositive();
    assertThat(withDimensions).isPositive();
  }

  private static TestRing ring(Random random) throws IOException, MalformedRingException {
    List<RingSpan> spans = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      spans.add(span(random));
    }
    Path folder = Files.createTempDirectory("ring");
    try {
      return new TestRing(folder, spans);
    } finally {
      try (var files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }

  private static RingSpan span(Random random) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      attributes.put(KEYS_OF_RINGS.get(random.nextInt(KEYS_OF_RINGS.size())), value(random));
    }
    if (random.nextInt(12) == 0) {
      for (int i = random.nextInt(140); i > 0; i--) {
        attributes.put("many" + i, value(random));
      }
      attributes.put("k1", "last");
    }
    List<RingSpan.Event> events =
        random.nextInt(4) > 0
            ? List.of()
            : List.of(new RingSpan.Event("exception", 5, Map.of("exception.type", "e")));
    return new RingSpan(
        random.nextLong(),
        random.nextLong(),
        1 + random.nextInt(1_000),
        0,
        1_795_255_028_000_000_000L,
        random.nextInt(2_200_000),
        random.nextInt(7),
        random.nextInt(20) == 0 ? 2 : 0,
        random.nextInt(4) == 0 ? 1L << 54 : 0,
        -1,
        List.of("a", "a1", "ab12").get(random.nextInt(3)),
        random.nextInt(10) == 0 ? "no stock 12" : "",
        attributes,
        events,
        Stream.generate(() -> new RingSpan.Link(1, 2, random.nextInt(9)))
            .limit(random.nextInt(4))
            .toList());
  }

  private static Object value(Random random) {
    return switch (random.nextInt(9)) {
      case 0 -> (long) random.nextInt(20_000);
      case 1 -> random.nextBoolean();
      case 2 -> random.nextInt(100) / 4.0;
      case 3 -> new RingSpan.Json("[1]");
      case 4 -> "x".repeat(random.nextInt(100) == 0 ? 60_000 + random.nextInt(9_000) : 300);
      default -> "v" + random.nextInt(3);
    };
  }

  @Provide
  Arbitrary<List<String>> rules() {
    // A key occurs once.
    return Arbitraries.of(RULES)
        .list()
        .uniqueElements(rule -> rule.substring(0, rule.indexOf(':')))
        .ofMaxSize(2);
  }

  @Provide
  Arbitrary<List<String>> keys() {
    return Arbitraries.of("k1", "k3", "absent", "caf\u00e9", "k\ufffd").list().uniqueElements();
  }

  /** Batches payloads of one seed; the batches are small and their spool is tight. */
  private static final class Run {
    private final PipelineMetrics metrics = new PipelineMetrics();
    private final Frame frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
    private final StringBuilder payloads = new StringBuilder();
    private final Batcher batcher;
    private final SpanSink sink;
    private final Random random;
    private long nowNanos;

    Run(List<String> rules, List<String> keys, long seed, boolean first) throws ConfigException {
      this(
          rules,
          keys,
          seed,
          first,
          DetailConfig.Detail.DEMAND,
          seed % 2 == 0,
          seed % 3 == 0 ? new Random(seed).nextInt(200_000) : Long.MAX_VALUE);
    }

    Run(
        List<String> rules,
        List<String> keys,
        long seed,
        boolean first,
        DetailConfig.Detail detail,
        boolean edges,
        long mostFrameBytes)
        throws ConfigException {
      random = new Random(seed);
      PipelineConfig config =
          new PipelineConfig(
              PipelineConfig.defaults().maxBytesInFlight(),
              1_024 << random.nextInt(7),
              1 + random.nextInt(64),
              20,
              1 + random.nextInt(8));
      LongSupplier clock = () -> nowNanos;
      batcher = new Batcher(config, frame, mostFrameBytes, metrics, clock, () -> 0);
      batcher.route(new Router(RoutingRules.defaults()), TestTopology.topology(3));
      batcher.filter(new Filters(FiltersFile.parse(String.join("\n", rules).getBytes(UTF_8))));
      if (edges) {
        List<String> dimensions = DIMENSIONS.get((int) Math.floorMod(seed / 2, 4L));
        batcher.edges(
            new Edges(
                EdgesConfig.defaults(),
                new EdgeRoute(TestTopology.edgeQueues(3)),
                new EdgeAttributes(dimensions)));
      }
      Part part =
          new Part(
              1,
              5,
              false,
              1,
              keys,
              List.of(new SlowRule("x", 1 << 3, 1_000_000)),
              2_000_000,
              List.of("z"),
              random.nextBoolean() ? Demand.SIZES : 0);
      double ratio = random.nextInt(4) == 0 ? random.nextInt(2) : 1.0 / (1 << random.nextInt(8));
      batcher.detail(
          new Detail(
              new DetailConfig(detail, List.of(), ratio), new Demand(9, 1, Map.of("a", part))));
      sink = new Observed(batcher, first);
    }

    void take(byte[] bytes, SpanDecoder decoder) {
      PendingPayload payload =
          new PendingPayload(
              SOURCE,
              bytes,
              bytes.length,
              BatcherAllocationTest.NOT_DECODED,
              BatcherAllocationTest.IGNORED,
              0);
      batcher.payload(payload);
      try {
        decoder.decode(bytes, sink);
      } catch (MalformedPayloadException e) {
        payloads.append(e.getMessage());
      }
      batcher.throwFault();
      batcher.endPayload();
      payloads.append(
          List.of(
              payload.accepted(),
              payload.rejected(),
              payload.filtered(),
              payload.measured(),
              payload.grouped(),
              payload.reason()));
      nowNanos += random.nextInt((int) TimeUnit.MILLISECONDS.toNanos(2));
    }

    /** Returns the half-edges of all payloads. */
    List<SentHalf> halves() {
      batcher.closeForCommit();
      return SentHalf.read(frame);
    }

    /** Returns all that the batcher did, as text. */
    String outcome() {
      batcher.closeForCommit();
      StringBuilder outcome = new StringBuilder(payloads).append('\n');
      for (byte[] body : TestFrames.bodies(frame)) {
        outcome.append(new String(body, ISO_8859_1)).append('\n');
      }
      metrics
          .collect()
          .forEach(family ->
              family.samples.stream()
                  .filter(sample -> !sample.name.endsWith("_created"))
                  .forEach(sample -> outcome.append(sample).append('\n')));
      return outcome.toString();
    }
  }

  /** Passes calls on; without first reading it has no first keys. */
  private record Observed(Batcher to, boolean first) implements SpanSink {
    @Override
    public void resource(Attributes attributes) {
      to.resource(attributes);
    }

    @Override
    public KeySet wantedKeys() {
      return to.wantedKeys();
    }

    @Override
    public KeySet firstKeys() {
      return first ? to.firstKeys() : null;
    }

    @Override
    public KeySet additionalKeys(int kind) {
      return to.additionalKeys(kind);
    }

    @Override
    public boolean needsAll(SpanView span) {
      return to.needsAll(span);
    }

    @Override
    public WantedEvents wantedEvents() {
      return to.wantedEvents();
    }

    @Override
    public boolean span(SpanView span) {
      boolean skipped = first && to.firstKeys() != null && span.attributesNotWanted > 0;
      boolean isTaken = to.span(span);
      taken += skipped && isTaken ? 1 : 0;
      readAgain += isTaken ? 0 : 1;
      assertThat(isTaken || skipped).isTrue();
      return isTaken;
    }

    @Override
    public void rejected(String reason) {
      to.rejected(reason);
    }
  }
}
