package org.traceetl.server.features.preview;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.features.preview.RulesCost.Label;
import org.traceetl.server.features.preview.RulesCost.Value;
import org.traceetl.server.window.QueueId;

/** What a comparison of rules says of whole spans, and of groups that lack a new dimension. */
final class RulesPreviewTest {
  private static final int SPANS_PER_SAMPLE = 128;
  private static final int LIMIT = 8;

  /** Bytes of a series on the page of these tests. */
  private static final int PAGE_BYTES = 100;

  private static final QueueId FIRST = new QueueId("a", 0);
  private static final QueueId SECOND = new QueueId("a", 1);

  private final TestBatch batch = new TestBatch(SPANS_PER_SAMPLE);
  private final RulesPreview preview =
      new RulesPreview(
          "shop",
          rules("configuration", List.of(1.0), List.of(), "region"),
          rules("revision 7", List.of(1.0, 2.0), List.of(), "region", "user"),
          Messages.SPAN_BATCH,
          PreviewLimits.COMMAND);

  private static PreviewedRules rules(
      String name, List<Double> bounds, List<MeasureConfig> measures, String... dimensions) {
    SeriesConfig series =
        new SeriesConfig(
            Arrays.stream(dimensions).map(key -> new Dimension(key, null, null)).toList(),
            null,
            null,
            LIMIT,
            null,
            null,
            null,
            null,
            null);
    return new PreviewedRules(
        name,
        series,
        MetricsConfig.defaults(),
        new HistogramConfig(bounds),
        measures,
        new HistogramConfig(null));
  }

  /** Returns a histogram of the durations of spans with a model, by model. */
  private static MeasureConfig ofModels() {
    return new MeasureConfig(
        "model.duration",
        null,
        null,
        null,
        null,
        null,
        null,
        List.of("model"),
        List.of(new Dimension("model", null, null)),
        null,
        List.of(0.1, 1.0));
  }

  private RulesComparison compare() throws Exception {
    return compare(preview);
  }

  private static RulesComparison compare(RulesPreview preview) throws Exception {
    return preview.compare((naming, series) -> (long) PAGE_BYTES * series.size());
  }

  private static String printed(RulesComparison comparison) {
    StringWriter out = new StringWriter();
    comparison.print(new PrintWriter(out));
    return out.toString().replaceAll(" +", " ");
  }

  private void add(QueueId queue) {
    preview.add(queue, batch.message());
  }

  @Test
  void wholeSpansAreExact() throws Exception {
    batch.begin("shop");
    for (int i = 0; i < 30; i++) {
      batch.whole("region", "r" + i % 3 / 2, "user", "u" + i % 10);
    }
    add(FIRST);
    batch.begin("shop");
    batch.whole("region", "r0");
    add(SECOND);
    batch.begin("bank");
    batch.whole("region", "elsewhere");
    add(SECOND);

    RulesComparison comparison = compare();

    assertThat(comparison.messages()).isEqualTo(3);
    assertThat(comparison.applicationMessages()).isEqualTo(2);
    assertThat(comparison.spans()).isEqualTo(31);
    assertThat(comparison.queues()).isEqualTo(2);
    RulesCost inForce = comparison.inForce();
    assertThat(inForce.series()).isEqualTo(2);
    assertThat(inForce.seriesOnQueues()).isEqualTo(3);
    assertThat(inForce.overflowing()).isZero();
    assertThat(inForce.estimated()).isFalse();
    assertThat(inForce.samples()).isEqualTo(3 * (1 + 2 + 2));
    assertThat(inForce.pageBytes()).isEqualTo(3 * PAGE_BYTES);
    // 15 buckets fewer than with 16 bounds, and 110 bytes of labels.
    assertThat(inForce.memoryBytes()).isEqualTo(3 * (290 - 15 * 12 + 128));
    assertThat(inForce.labels())
        .contains(
            new Label("span_kind", 1, false, 2, false, List.of(new Value("SPAN_KIND_SERVER", 2))),
            new Label(
                "region", 2, false, 1, false, List.of(new Value("r0", 1), new Value("r1", 1))));
    RulesCost proposed = comparison.proposed();
    // Ten users in each of two regions, and one span without a user.
    assertThat(proposed.series()).isEqualTo(21);
    assertThat(proposed.seriesOnQueues()).isEqualTo(21);
    assertThat(proposed.overflowing()).isEqualTo(20 - LIMIT);
    assertThat(proposed.fullQueues()).isEqualTo(1);
    assertThat(proposed.samples()).isEqualTo(21 * (1 + 3 + 2));
    Label user = proposed.labels().getLast();
    assertThat(user.label()).isEqualTo("user");
    assertThat(user.values()).isEqualTo(10);
    assertThat(user.seriesWithout()).isEqualTo(2);
    assertThat(user.top()).hasSize(10).startsWith(new Value("u0", 2));
    assertThat(proposed.labels().get(3).top())
        .containsExactly(new Value("r0", 11), new Value("r1", 10));
  }

  @Test
  void dimensionThatGroupsLackIsEstimated() throws Exception {
    batch.begin("shop", "region");
    for (int i = 0; i < 100 * SPANS_PER_SAMPLE; i++) {
      batch.grouped("region", "r" + i % 2);
      if (i % SPANS_PER_SAMPLE == 0) {
        batch.sample("region", "r" + i % 2, "user", "u" + i);
      }
    }
    add(FIRST);

    RulesComparison comparison = compare();

    assertThat(comparison.inForce().series()).isEqualTo(2);
    assertThat(comparison.inForce().estimated()).isFalse();
    RulesCost proposed = comparison.proposed();
    // 100 users of one sample each, times the square root of 128.
    assertThat(proposed.series()).isEqualTo(1_131);
    assertThat(proposed.errorFactor()).isCloseTo(Math.sqrt(SPANS_PER_SAMPLE), within(1e-9));
    assertThat(proposed.overflowing()).isEqualTo(1_131 - LIMIT);
    assertThat(proposed.labels().get(3))
        .isEqualTo(new Label("region", 2, false, 1_131, true, List.of(new Value("r0", 1_131))));
    assertThat(proposed.labels().get(4).top()).hasSize(10).contains(new Value("u0", 11));

    assertThat(printed(comparison))
        .contains(
            "\nseries 2 ~1131\n",
            "\nspan_kind 1 ~1131 SPAN_KIND_SERVER (~1131)\n",
            "\nregion 2 ~1131 r0 (~1131)\n",
            "\n~ revision 7: estimated from a sample. Agents sent 12800 spans in groups without user,"
                + " and 100 of them also whole.\n"
                + "Numbers of series and values may be too high or too low by a factor of about"
                + " 11.3;")
        .doesNotContain("~ configuration");
  }

  private final RulesPreview ofMeasures =
      new RulesPreview(
          "shop",
          rules("configuration", List.of(1.0), List.of()),
          rules("revision 7", List.of(1.0), List.of(ofModels())),
          Messages.SPAN_BATCH,
          PreviewLimits.COMMAND);

  @Test
  void measuresAreCountedBesideSpans() throws Exception {
    for (QueueId queue : List.of(FIRST, SECOND)) {
      batch.begin("shop");
      for (int i = 0; i < 30; i++) {
        batch.whole("model", "m" + i % 5);
      }
      batch.whole();
      ofMeasures.add(queue, batch.message());
    }

    RulesComparison comparison = compare(ofMeasures);

    RulesCost inForce = comparison.inForce();
    assertThat(inForce.measures()).isEmpty();
    RulesCost proposed = comparison.proposed();
    assertThat(proposed.estimated()).isFalse();
    // Three buckets, sum and count of each series.
    int samples = 10 * 5;
    assertThat(proposed.measures())
        .hasSize(1)
        .first()
        .satisfies(measure -> assertThat(measure.memoryBytes()).isBetween(10 * 290L, 10 * 600L))
        .usingRecursiveComparison()
        .ignoringFields("memoryBytes")
        .isEqualTo(
            new RulesCost.Measure("model.duration", false, 5, 10, 0, 10 * PAGE_BYTES, samples));
    assertThat(proposed.series()).isEqualTo(inForce.series() + 5);
    assertThat(proposed.seriesOnQueues()).isEqualTo(inForce.seriesOnQueues() + 10);
    assertThat(proposed.samples()).isEqualTo(inForce.samples() + samples);
    assertThat(proposed.pageBytes()).isEqualTo(inForce.pageBytes() + 10 * PAGE_BYTES);
    assertThat(printed(comparison))
        .contains("measures of revision 7 series on all queues", "\nmodel.duration 5 10 ");
  }

  @Test
  void measuresOfGroupsWithoutTheirAttributesAreEstimated() throws Exception {
    batch.begin("shop");
    for (int i = 0; i < 100 * SPANS_PER_SAMPLE; i++) {
      batch.grouped();
      if (i % SPANS_PER_SAMPLE == 0) {
        batch.sample("model", "m" + i % 3);
      }
    }
    ofMeasures.add(FIRST, batch.message());

    RulesCost proposed = compare(ofMeasures).proposed();

    assertThat(proposed.lacking()).containsExactly("attributes of model.duration");
    assertThat(proposed.errorFactor()).isCloseTo(Math.sqrt(SPANS_PER_SAMPLE), within(1e-9));
    assertThat(proposed.measures().getFirst().estimated()).isTrue();
    // Each model has several samples.
    assertThat(proposed.measures().getFirst().series()).isEqualTo(3);
    assertThat(proposed.labels().getFirst().seriesWithoutEstimated()).isFalse();
  }

  @Test
  void missingSampleIsNamed() throws Exception {
    batch.begin("shop", "region");
    batch.grouped("region", "r");
    add(FIRST);

    RulesCost proposed = compare().proposed();

    assertThat(proposed.lacking()).containsExactly("user");
    assertThat(proposed.errorFactor()).isNull();
    assertThat(printed(compare()))
        .contains(
            "\nseries 1 unknown\n", "without user, and none of them whole.\nRead more messages,");
  }

  @Test
  void applicationWithoutSpansIsNamedWithTheOthers() {
    batch.begin("bank\u001b[2J");
    batch.whole();
    add(FIRST);

    assertThatThrownBy(this::compare)
        .isInstanceOf(IOException.class)
        .hasMessage(
            "Application shop has no spans in 1 messages (0 refused). They have spans of: bank?[2J");
  }
}
