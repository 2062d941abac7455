package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.QueueId;

/** Which spans of batches are selected, which are a sample, and which do not count. */
final class SpanSampleTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final Instant NOW = Instant.parse("2026-11-30T10:00:00Z");
  private static final long HALF = 1L << 55;
  private static final long SLOW = 100;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private SpanSample sample = sample(question(null, null), 1_000);

  private static Question question(String operation, Duration earlier) {
    return new Question(
        "shop",
        operation,
        operation == null ? null : SpanKind.SERVER,
        false,
        SLOW,
        NOW.minusSeconds(600),
        NOW,
        earlier);
  }

  private static SpanSample sample(Question question, int maxUnits) {
    return new SpanSample(
        question,
        new SpanNames(new NamePatterns(List.of()), true, 1_000, () -> LearntNames.NONE),
        1_000,
        maxUnits);
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private void begin(String application, boolean byDemand) {
    writer.begin();
    writer.application(intern(application));
    if (byDemand) {
      writer.demand(1);
      writer.sampleThreshold(HALF);
    }
  }

  private void whole(long trace, long nanos, boolean isMember, String value) {
    writer.startSpan(0, trace, trace, 0, intern("GET /" + trace), 2, 0, 1, nanos, 0);
    writer.attribute(intern("key"), intern(value));
    if (isMember) {
      writer.sampled();
    }
    writer.endSpan();
  }

  private void span(String name, long trace, long nanos, long threshold) {
    writer.startSpan(0, trace, trace, 0, intern(name), 2, 0, 1, nanos, threshold);
    writer.endSpan();
  }

  private void sampled(long trace, long nanos, String value) {
    grouped(nanos);
    writer.startSample(0, trace, trace, 0, intern("GET /" + trace), 2, 0, 1, nanos, HALF);
    writer.attribute(intern("key"), intern(value));
    writer.endSpan();
  }

  private void grouped(long nanos) {
    writer.startGroupedSpan(intern("GET /1"), 2, 0, nanos, 0);
    writer.endSpan();
  }

  private byte[] message(int agent) {
    int length = writer.finish(agent, 0, 1, 0);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private void add() {
    sample.add(QUEUE, message(1));
  }

  private static List<Long> traces(List<Unit> units) {
    return units.stream().map(unit -> unit.traceLow).toList();
  }

  @Test
  void wholeSpansAreTheSelectionAndTheSampleIsTheBaseline() {
    begin("shop", true);
    whole(1, SLOW, false, "slow");
    whole(2, SLOW, true, "slow");
    whole(3, 5, false, "exemplar");
    whole(4, 5, true, "exemplar of the sample");
    sampled(5, 5, "sampled");
    grouped(6);
    add();

    assertThat(sample.isSampled()).isFalse();
    assertThat(traces(sample.selection())).containsExactlyInAnyOrder(1L, 2L);
    assertThat(traces(sample.baseline())).containsExactlyInAnyOrder(4L, 5L);
    assertThat(sample.sampleWeight(0)).isEqualTo(2);
    // All templates are the same operation.
    assertThat(sample.operations()).hasSize(1);
    assertThat(sample.spans(0)).isEqualTo(6);
    assertThat(sample.selected(0)).isEqualTo(2);
  }

  @Test
  void ifGroupsHaveSelectedSpansTheSampleIsTheSelection() {
    begin("shop", true);
    whole(1, SLOW, false, "slow");
    whole(2, SLOW, true, "slow");
    sampled(3, SLOW, "sampled");
    sampled(4, 5, "sampled");
    add();

    assertThat(sample.isSampled()).isTrue();
    assertThat(traces(sample.selection())).containsExactlyInAnyOrder(2L, 3L);
    assertThat(traces(sample.baseline())).containsExactly(4L);
    assertThat(sample.selected(0)).isEqualTo(3);
  }

  @Test
  void spansOfAnAgentWithoutDemandAreASample() {
    begin("shop", false);
    LongStream.range(1, 9).forEach(trace -> whole(trace, 5, false, "full"));
    whole(9, SLOW, false, "slow");
    add();

    assertThat(traces(sample.baseline())).hasSize(8);
    assertThat(traces(sample.selection())).containsExactly(9L);
  }

  @Test
  void ordinarySpansOfBatchesWithoutGroupsAreExemplarsOfAnAgentWithDemand() {
    begin("shop", false);
    whole(1, 5, false, "exemplar");
    whole(2, SLOW, false, "slow");
    byte[] withoutGroups = message(1);
    begin("shop", true);
    sampled(3, 5, "sampled");
    byte[] withGroups = message(1);

    for (List<byte[]> order :
        List.of(List.of(withoutGroups, withGroups), List.of(withGroups, withoutGroups))) {
      sample = sample(question(null, null), 1_000);
      order.forEach(message -> sample.add(QUEUE, message));

      assertThat(traces(sample.baseline())).containsExactly(3L);
      assertThat(traces(sample.selection())).containsExactly(2L);
    }
  }

  @Test
  void agentsWithDifferentSamplesAreThinnedToTheSame() {
    begin("shop", false);
    LongStream.range(1, 401).forEach(trace -> whole(trace, 5, false, "full"));
    byte[] full = message(1);
    begin("shop", true);
    LongStream.range(1_001, 1_201).forEach(trace -> sampled(trace, 5, "half"));
    byte[] half = message(2);

    sample.add(QUEUE, full);
    sample.add(QUEUE, half);
    List<Long> traces = traces(sample.baseline());

    // Of the 400 whole spans, half on average; all of the sample.
    assertThat(traces.stream().filter(trace -> trace > 1_000)).hasSize(200);
    assertThat(traces.stream().filter(trace -> trace < 1_000).count()).isBetween(160L, 240L);
    sample = sample(question(null, null), 1_000);
    sample.add(QUEUE, half);
    sample.add(QUEUE, full);
    assertThat(traces(sample.baseline())).containsExactlyInAnyOrderElementsOf(traces);
  }

  @Test
  void anOperationThatIsSampledRarelyDoesNotThinOthers() {
    begin("shop", false);
    LongStream.range(1, 201).forEach(trace -> span("GET /cart", trace, 5, 0));
    LongStream.range(201, 301).forEach(trace -> span("GET /cart", trace, SLOW, 0));
    span("GET /rare", 1_001, 5, (1L << 56) - 1);
    span("GET /rare", 1_002, SLOW, (1L << 56) - 1);
    add();

    assertThat(traces(sample.baseline()).stream().filter(trace -> trace < 1_000)).hasSize(200);
    assertThat(traces(sample.selection()).stream().filter(trace -> trace < 1_000)).hasSize(100);
    assertThat(sample.sampleWeight(0)).isEqualTo(1);
    assertThat(sample.sampleWeight(1)).isEqualTo(0x1p56);
  }

  /** Else each of many rising thresholds would thin. */
  @Test
  void weightsArePowersOfTwo() {
    begin("shop", false);
    LongStream.range(1, 1_001).forEach(trace -> span("GET /cart", trace, 5, trace));
    add();

    assertThat(sample.sampleWeight(0)).isEqualTo(2);
    assertThat(traces(sample.baseline())).hasSizeBetween(400, 600);
  }

  @Test
  void valuesOfASpanAreBounded() {
    begin("shop", false);
    writer.startSpan(0, 1, 1, 0, intern("GET /cart"), 2, 0, 1, SLOW, 0);
    for (int i = 0; i < 200; i++) {
      writer.attribute(intern("key" + i), intern("value"));
    }
    writer.endSpan();
    add();

    assertThat(sample.selection().getFirst().values).hasSize(SpanSample.MAX_VALUES_OF_SPAN);
    assertThat(sample.values().leftOut()).isEqualTo(200 - SpanSample.MAX_VALUES_OF_SPAN);
  }

  @Test
  void attributesKnowWhetherTheyAreNumericAndComplete() {
    begin("shop", false);
    whole(1, SLOW, false, "17");
    whole(2, SLOW, false, "-2.5");
    add();

    int key = sample.values().keys().get("key");
    assertThat(sample.values().isNumeric(key)).isTrue();
    assertThat(sample.values().isComplete(key)).isTrue();
    assertThat(sample.selection().stream().map(unit -> unit.numbers[0]))
        .containsExactlyInAnyOrder(17.0, -2.5);

    begin("shop", false);
    whole(3, SLOW, false, "many");
    writer.startSpan(0, 4, 4, 0, intern("GET /cart"), 2, 0, 1, SLOW, 0);
    for (int i = 0; i < SpanSample.MAX_VALUES_OF_SPAN; i++) {
      writer.attribute(intern("key" + i), intern("value"));
    }
    writer.attribute(intern("last"), intern("1"));
    writer.endSpan();
    add();

    int last = sample.values().keys().get("last");
    assertThat(sample.values().isNumeric(key)).isFalse();
    assertThat(sample.values().isNumeric(last)).isFalse();
    assertThat(sample.values().isComplete(last)).isFalse();
  }

  @Test
  void ordinarySpansOfTooManyAgentsAreNoSample() {
    for (int agent = 0; agent < SpanSample.MAX_AGENTS; agent++) {
      begin("shop", false);
      whole(1, 5, false, "full");
      sample.add(QUEUE, message(agent));
    }
    begin("shop", false);
    whole(2, 5, false, "full");
    whole(3, SLOW, false, "slow");
    sample.add(QUEUE, message(SpanSample.MAX_AGENTS));
    begin("shop", false);
    whole(4, 5, false, "full");
    sample.add(QUEUE, message(0));

    assertThat(traces(sample.baseline())).containsExactlyInAnyOrder(1L, 4L);
    assertThat(traces(sample.selection())).containsExactly(3L);
  }

  @Test
  void memoryIsBoundedAndWhatRemainsDoesNotDependOnTheOrder() {
    begin("shop", false);
    LongStream.range(1, 2_001).forEach(trace -> whole(trace, 5, false, "full"));
    LongStream.range(5_001, 7_001).forEach(trace -> whole(trace, SLOW, false, "slow"));
    byte[] one = message(1);
    begin("shop", false);
    LongStream.range(10_001, 12_001).forEach(trace -> whole(trace, 5, false, "full"));
    byte[] other = message(2);
    sample = sample(question(null, null), 500);
    sample.add(QUEUE, one);
    sample.add(QUEUE, other);

    List<Long> baseline = traces(sample.baseline());
    List<Long> selection = traces(sample.selection());

    assertThat(baseline).hasSizeBetween(100, 500);
    assertThat(selection).hasSizeBetween(100, 500);
    sample = sample(question(null, null), 500);
    sample.add(QUEUE, other);
    sample.add(QUEUE, one);
    assertThat(traces(sample.baseline())).containsExactlyInAnyOrderElementsOf(baseline);
    assertThat(traces(sample.selection())).containsExactlyInAnyOrderElementsOf(selection);
  }

  @Test
  void aTraceCountsOnceAndAsSelectedIfOneOfItsSpansIs() {
    begin("shop", true);
    whole(1, SLOW, true, "slow");
    sampled(1, 5, "sampled");
    sampled(1, 6, "sampled");
    sampled(2, 5, "sampled");
    sampled(2, 5, "sampled");
    add();
    // A message that was sent twice.
    add();

    assertThat(traces(sample.selection())).containsExactly(1L);
    assertThat(traces(sample.baseline())).containsExactly(2L);
    Unit unit = sample.selection().getFirst();
    assertThat(Arrays.stream(unit.values).mapToObj(sample.values()::text)).containsExactly("slow");
  }

  @Test
  void otherApplicationsOperationsAndMalformedBatchesDoNotCount() {
    sample = sample(question("GET /cart", null), 1_000);
    begin("shop-2", true);
    whole(1, SLOW, true, "slow");
    grouped(SLOW);
    add();
    begin("shop", true);
    whole(2, SLOW, true, "slow");
    grouped(SLOW);
    add();
    byte[] message = message(1);
    sample.add(QUEUE, Arrays.copyOf(message, message.length - 3));

    assertThat(sample.isSampled()).isFalse();
    assertThat(sample.selection()).isEmpty();
    assertThat(sample.operations()).isEmpty();
    assertThat(sample.batches()).isEqualTo(1);
    assertThat(sample.refused()).isEqualTo(1);
    assertThat(sample.messages()).isEqualTo(3);
  }

  @Test
  void theEarlierIntervalIsABaselineAsAWhole() {
    sample = sample(question(null, Duration.ofHours(1)), 1_000);
    begin("shop", true);
    whole(1, SLOW, true, "slow");
    sampled(2, 5, "not asked for");
    add();
    sample.beginBaseline();
    begin("shop", true);
    whole(3, SLOW, true, "slow before");
    whole(4, SLOW, false, "slow before");
    sampled(5, 5, "sampled");
    add();

    assertThat(traces(sample.selection())).containsExactly(1L);
    assertThat(traces(sample.baseline())).containsExactlyInAnyOrder(3L, 5L);
    assertThat(sample.spans(0)).isEqualTo(2);
  }
}
