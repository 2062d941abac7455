package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.source.otlp.RandomRequests;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;

/** Samples are additional: with any ratio, the same spans are sent and counted as without. */
final class SampleProperties {
  private static final List<String> RULES =
      List.of(
          "drop: [{name: a1*, keep: metrics, dimensions: [k3]}]",
          "sample: [{ratio: 0.5, always: {slower-than: 1ms}}]",
          "attributes: [{span: [k*]}]",
          "redact: [{pattern: '[0-9]', in: [names, values]}]");

  private static double sent;
  private static long sampled;

  @Property(tries = 200)
  void samplesChangeNeitherSpansNorCounts(
      @ForAll("rules") List<String> rules, @ForAll("ratios") double ratio, @ForAll long seed)
      throws ConfigException {
    Run without = new Run(rules, 0, seed);
    Run with = new Run(rules, ratio, seed);

    assertThat(with.counts).isEqualTo(without.counts);
    assertThat(with.metrics()).isEqualTo(without.metrics());
    assertThat(with.spans()).isEqualTo(without.spans());
    assertThat(without.samples()).isEmpty();
    List<SentSpan> samples = with.samples();
    assertThat(with.metrics.samplesSent.get()).isEqualTo(samples.size());
    List<SentSpan> grouped = with.spans().stream().filter(span -> !span.whole()).toList();
    if (ratio == 1 && with.metrics.samplesLeftOut.get() == 0 && rules.isEmpty()) {
      assertThat(samples).hasSameSizeAs(grouped);
    }
    assertThat(grouped.stream().map(SampleProperties::counted).toList())
        .containsAll(samples.stream().map(SampleProperties::counted).toList());
    sent += samples.size();
    sampled += with.sampled();
  }

  /** Returns what a sample has in common with its span in a group. */
  private static List<Object> counted(SentSpan span) {
    return List.of(
        span.application(),
        span.name(),
        span.kind(),
        span.status(),
        span.durationNanos(),
        span.events());
  }

  @AfterContainer
  static void thereWereSamples() {
    assertThat(sent).isPositive();
    assertThat(sampled).isPositive();
  }

  @Provide
  Arbitrary<List<String>> rules() {
    return Arbitraries.of(RULES).list().uniqueElements().ofMaxSize(2);
  }

  @Provide
  Arbitrary<Double> ratios() {
    return Arbitraries.of(1.0 / 128, 0.5, 0.9, 1.0);
  }

  /** An agent's batcher, whose batches are closed only by commits. */
  private static final class Run {
    final PipelineMetrics metrics = new PipelineMetrics();
    final List<Object> counts = new ArrayList<>();
    private final List<byte[]> bodies;

    Run(List<String> rules, double ratio, long seed) throws ConfigException {
      Frame frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
      PipelineConfig config = new PipelineConfig(1 << 24, 1 << 20, 1 << 14, 20, 1 << 12);
      Batcher batcher = new Batcher(config, frame, Long.MAX_VALUE, metrics, () -> 0, () -> 0);
      batcher.route(new Router(RoutingRules.defaults()), TestTopology.topology(3));
      batcher.filter(new Filters(FiltersFile.parse(String.join("\n", rules).getBytes(UTF_8))));
      Part part = new Part(1, 5, false, 1, List.of("k1"), List.of(), 2_000_000, List.of());
      batcher.detail(
          new Detail(
              new DetailConfig(DetailConfig.Detail.DEMAND, List.of(), ratio),
              new Demand(9, 1, Map.of("a", part))));
      RandomRequests requests = new RandomRequests(seed);
      for (int i = 0; i < 4; i++) {
        take(batcher, requests.next());
      }
      batcher.closeForCommit();
      bodies = TestFrames.bodies(frame);
    }

    private void take(Batcher batcher, byte[] bytes) {
      PendingPayload payload =
          new PendingPayload(
              "test",
              bytes,
              bytes.length,
              BatcherAllocationTest.NOT_DECODED,
              BatcherAllocationTest.IGNORED,
              0);
      batcher.payload(payload);
      try {
        new OtlpProtobufDecoder().decode(bytes, bytes.length, batcher);
      } catch (MalformedPayloadException e) {
        counts.add(e.getMessage());
      }
      batcher.throwFault();
      batcher.endPayload();
      counts.add(
          List.of(
              payload.accepted(),
              payload.rejected(),
              payload.filtered(),
              payload.measured(),
              payload.grouped(),
              payload.reason()));
    }

    List<String> metrics() {
      return metrics.collect().stream()
          .flatMap(family -> family.samples.stream())
          .map(Object::toString)
          .filter(sample -> !sample.contains("_created") && !sample.contains("samples_"))
          .toList();
    }

    List<SentSpan> spans() {
      return bodies.stream().flatMap(body -> SentSpan.read(body).stream()).toList();
    }

    List<SentSpan> samples() {
      return bodies.stream().flatMap(body -> SentSpan.samples(body).stream()).toList();
    }

    int sampled() {
      return bodies.stream().mapToInt(body -> SentSpan.sampled(body).size()).sum();
    }
  }
}
