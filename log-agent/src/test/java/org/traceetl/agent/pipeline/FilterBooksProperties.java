package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.flow.TestAttributes.add;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;

/** For any rules, spans and detail, each span is in a batch or in one count. */
final class FilterBooksProperties {
  private static final String SOURCE = "test";
  private static final int SPANS = 200;
  private static final long SLOW_NANOS = 2_000_000;
  private static final List<String> RULES =
      List.of(
          "drop: [{name: a*, keep: nothing}]",
          "drop: [{application: x, keep: metrics, dimensions: [k1]}]",
          "drop: [{attributes: {k1: '*1'}}, {kind: [client, server], keep: nothing}]",
          "sample: [{ratio: 0.5}]",
          "sample: [{application: y, ratio: 0.01, always: {slower-than: 1ms}}]",
          "attributes: [{application: x, span: [k*]}, {resource: []}]",
          "limits: {max-attributes: 1, max-name-bytes: 2}",
          "redact: [{pattern: '[0-9]'}]");

  private static final Detail BY_DEMAND =
      new Detail(
          new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
          new Demand(
              9,
              1,
              Map.of(
                  "a",
                  new Part(1, 5, false, 1, List.of("k1"), List.of(), SLOW_NANOS, List.of("z")))));

  @Property(tries = 200)
  void booksBalance(
      @ForAll("rules") List<String> rules, @ForAll long seed, @ForAll boolean byDemand)
      throws ConfigException {
    PipelineMetrics metrics = new PipelineMetrics();
    Frame frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
    PendingPayload payload = batch(rules, seed, byDemand ? BY_DEMAND : Detail.FULL, frame, metrics);

    assertThat(payload.accepted() + payload.filtered() + payload.rejected()).isEqualTo(SPANS);
    assertThat(payload.rejected()).isZero();
    assertThat(payload.measured() + payload.grouped()).isLessThanOrEqualTo(payload.accepted());
    assertThat(
            metrics.spansFiltered.labels(SOURCE, "dropped").get()
                + metrics.spansFiltered.labels(SOURCE, "sampled_out").get())
        .isEqualTo(payload.filtered());
    assertThat(frame.isEmpty()).isEqualTo(payload.accepted() == 0);
    List<SentSpan> sent = sent(frame);
    assertThat(sent).hasSize(payload.accepted());
    assertThat(sent)
        .filteredOn(span -> !span.whole())
        .hasSize(payload.measured() + payload.grouped());
    // Without a checkpoint, a repeat would be counted again.
    assertThat(payload.checkpoint()).isNotNull();
  }

  /** By demand, spans are the same except for attributes that no server needs. */
  @Property(tries = 200)
  void spansDifferOnlyInWhatIsNotDemanded(@ForAll("rules") List<String> rules, @ForAll long seed)
      throws ConfigException {
    Frame frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
    PendingPayload full = batch(rules, seed, Detail.FULL, frame, new PipelineMetrics());
    List<SentSpan> inFull = sent(frame);
    frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
    PendingPayload payload = batch(rules, seed, BY_DEMAND, frame, new PipelineMetrics());
    List<SentSpan> sent = sent(frame);

    assertThat(demanded(sent)).containsExactlyInAnyOrderElementsOf(demanded(inFull));
    List<SentSpan> whole = inFull.stream().filter(SentSpan::whole).toList();
    assertThat(whole).containsAll(sent.stream().filter(SentSpan::whole).toList());
    assertThat(sent)
        .containsAll(
            whole.stream()
                .filter(span ->
                    span.status() == 2
                        || span.durationNanos() >= SLOW_NANOS
                        || span.application().equals("z"))
                .toList());
    assertThat(payload.measured()).isEqualTo(full.measured());
    assertThat(full.grouped()).isZero();
  }

  private static List<SentSpan> demanded(List<SentSpan> spans) {
    return spans.stream()
        .map(span -> {
          Map<String, String> attributes = new LinkedHashMap<>(span.attributes());
          attributes.keySet().retainAll(List.of("k1"));
          return new SentSpan(
              span.application(),
              false,
              span.name(),
              span.kind(),
              span.status(),
              span.durationNanos(),
              span.samplingThreshold(),
              null,
              attributes,
              span.events());
        })
        .toList();
  }

  private static List<SentSpan> sent(Frame frame) {
    return TestFrames.bodies(frame).stream().flatMap(body -> SentSpan.read(body).stream()).toList();
  }

  private static PendingPayload batch(
      List<String> rules, long seed, Detail detail, Frame frame, PipelineMetrics metrics)
      throws ConfigException {
    Batcher batcher =
        new Batcher(PipelineConfig.defaults(), frame, Long.MAX_VALUE, metrics, () -> 0, () -> 0);
    batcher.route(
        new Router(RoutingRules.defaults()), new Topology(List.of(new BrokerQueue("broker-a", 0))));
    batcher.filter(new Filters(FiltersFile.parse(String.join("\n", rules).getBytes(UTF_8))));
    batcher.detail(detail);
    PendingPayload payload =
        new PendingPayload(SOURCE, new byte[0], 0, BatcherAllocationTest.NOT_DECODED, WITH_NOTE, 0);
    batcher.payload(payload);
    Random random = new Random(seed);
    for (int i = 0; i < SPANS; i++) {
      if (i % 10 == 0) {
        Attributes resource = new Attributes();
        add(resource, "service.name", List.of("x", "y", "z").get(random.nextInt(3)));
        batcher.resource(resource);
      }
      batcher.span(span(random));
    }
    batcher.endPayload();
    batcher.closeForCommit();
    return payload;
  }

  @Provide
  Arbitrary<List<String>> rules() {
    // A key occurs once.
    return Arbitraries.of(RULES)
        .list()
        .uniqueElements(rule -> rule.substring(0, rule.indexOf(':')))
        .ofMaxSize(4);
  }

  private static SpanView span(Random random) {
    SpanView span = new SpanView();
    span.traceIdLow = random.nextLong();
    span.spanId = 1;
    span.kind = random.nextInt(6);
    span.status = random.nextInt(3);
    span.durationNanos = random.nextLong(3_000_000);
    span.samplingThreshold = random.nextBoolean() ? 0 : random.nextLong(1L << 55);
    if (random.nextInt(4) == 0) {
      byte[] event = "event".getBytes(UTF_8);
      span.events.add(event, 0, event.length);
      add(span.events.attributes(), "k1", "e" + random.nextInt(2));
    }
    span.name = List.of("a", "a1", "ab12", "b").get(random.nextInt(4)).getBytes(UTF_8);
    span.nameLength = span.name.length;
    for (int i = random.nextInt(4); i > 0; i--) {
      add(span.attributes, "k" + i, "v" + random.nextInt(3));
    }
    return span;
  }

  private static final Completion WITH_NOTE =
      new Completion() {
        @Override
        public Checkpoint checkpoint() {
          return new Checkpoint.Request(1, 2, 3);
        }

        @Override
        public void confirmed(int accepted, int rejected, String reason) {}

        @Override
        public void malformed(String reason) {}

        @Override
        public void failed(String reason) {}
      };
}
