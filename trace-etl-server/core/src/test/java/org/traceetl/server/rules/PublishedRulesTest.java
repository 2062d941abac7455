package org.traceetl.server.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;

/** What a record of rules has, and that servers read them from it. */
final class PublishedRulesTest {
  private static final Threshold BATCHES = new Threshold("batch-*", null, Duration.ofDays(365));
  private static final Dimension REGION = new Dimension("cloud.region", "region", From.RESOURCE);
  private static final Dimension ROUTE = new Dimension("http.route", null, null);
  private static final TemplatesConfig.Rule JOBS =
      new TemplatesConfig.Rule(null, "job ([^ ]+)", "job $1");
  private static final Threshold CONSUMERS =
      new Threshold(
          null, EnumSet.of(SpanKind.UNSPECIFIED, SpanKind.CONSUMER), Duration.ofSeconds(30));

  @Test
  void rulesContainThresholdsOfTheDefaultsThatTheyDoNotReplace() throws Exception {
    RulesRecord published =
        PublishedRules.record(
            new Rules(
                12,
                keys(Duration.ofMillis(500), List.of(BATCHES)),
                List.of(
                    new Rules.OfApplications("checkout", keys(Duration.ZERO, null)),
                    new Rules.OfApplications("cart*", keys(null, List.of(CONSUMERS))),
                    new Rules.OfApplications("checkout", keys(Duration.ofDays(1), null)))),
            7);

    assertThat(published.epoch()).isEqualTo(12);
    assertThat(published.decidedMillis()).isEqualTo(7);
    assertThat(PublishedRules.rules(RulesRecord.FORMAT.decode(published.encode(), 7)))
        .isEqualTo(
            new Rules(
                12,
                RuleKeys.NONE,
                List.of(
                    new Rules.OfApplications("checkout", keys(Duration.ZERO, List.of(BATCHES))),
                    new Rules.OfApplications(
                        "cart*", keys(Duration.ofMillis(500), List.of(CONSUMERS))),
                    new Rules.OfApplications(
                        "*", keys(Duration.ofMillis(500), List.of(BATCHES))))));
  }

  @Test
  void absentKeysStayAbsent() {
    Rules rules =
        new Rules(
            1,
            RuleKeys.NONE,
            List.of(
                new Rules.OfApplications("shop", keys(null, List.of())),
                new Rules.OfApplications("*", RuleKeys.NONE)));

    assertThat(PublishedRules.rules(PublishedRules.record(rules, 1))).isEqualTo(rules);
  }

  @Test
  void whatARecordCannotContainIsRefused() {
    assertThat(record(PublishedRules.MAX_REVISION, 127, 128).applications()).hasSize(128);
    refuses("revision = 1000000000001", PublishedRules.MAX_REVISION + 1, 1, 1);
    refuses("applications = 129 of them: must be at most 128", 1, 128, 1);
    refuses("applications = 2 rules with 129 thresholds", 1, 1, 129);
    assertThatThrownBy(() -> PublishedRules.record(named("a".repeat(257), "b"), 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("application = aaa");
    assertThatThrownBy(() -> PublishedRules.record(named("a", "b".repeat(257)), 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("documents.thresholds.application = bbb");
    refuses(
        "1 rules with 513 dimensions",
        ofSeries(Collections.nCopies(RulesRecord.MAX_DIMENSIONS + 1, ROUTE), null));
    refuses(
        "1 rules with 257 templates",
        ofSeries(null, Collections.nCopies(RulesRecord.MAX_TEMPLATES + 1, JOBS)));
    String longest = "a".repeat(Demand.MAX_TEXT_BYTES + 1);
    refuses("series.dimensions.attribute = aaa", new Dimension(longest, "a", null));
    refuses("series.dimensions.label = aaa", new Dimension("b", longest, null));
    refuses("series.dimensions.from = event-name", new Dimension("b", null, From.EVENT_NAME));
    refuses("templates.patterns.application", new TemplatesConfig.Rule(longest, "a", "a"));
    String wide = "ö".repeat(600);
    refuses("templates.patterns.pattern", new TemplatesConfig.Rule(null, wide, "a"));
    refuses("templates.patterns.template", new TemplatesConfig.Rule(null, "a", wide));
    assertThat(Demand.MAX_RULES).isGreaterThanOrEqualTo(RulesRecord.MAX_RULES);
  }

  @Test
  void dimensionsAndTemplatesAreReadAsPublished() throws Exception {
    RuleKeys ofAll = ofSeries(List.of(ROUTE), List.of(JOBS));
    RuleKeys ofShop = ofSeries(List.of(REGION, new Dimension("zone", null, From.SPAN)), null);
    RuleKeys none = ofSeries(List.of(), List.of());
    RulesRecord published =
        PublishedRules.record(
            new Rules(
                3,
                ofAll,
                List.of(
                    new Rules.OfApplications("shop", ofShop),
                    new Rules.OfApplications("bank", none))),
            7);

    assertThat(PublishedRules.rules(RulesRecord.FORMAT.decode(published.encode(), 7)))
        .isEqualTo(
            new Rules(
                3,
                RuleKeys.NONE,
                List.of(
                    new Rules.OfApplications("shop", ofSeries(ofShop.dimensions(), List.of(JOBS))),
                    new Rules.OfApplications("bank", none),
                    new Rules.OfApplications("*", ofAll))));
  }

  @Test
  void measuresAreReadAsPublished() throws Exception {
    MeasureConfig usage =
        new MeasureConfig(
            "gen_ai.client.token.usage",
            "Tokens",
            "{token}",
            MeasureConfig.Type.HISTOGRAM,
            null,
            "gen_ai.usage.input_tokens",
            Set.of(SpanKind.CLIENT),
            List.of("gen_ai.request.model"),
            List.of(ROUTE, REGION),
            List.of(new MeasureConfig.Constant("gen_ai.token.type", "input")),
            List.of(1.0, 4.5));
    MeasureConfig calls =
        new MeasureConfig(
            "calls",
            null,
            null,
            null,
            MeasureConfig.Source.ONE,
            null,
            null,
            null,
            null,
            null,
            null);
    RulesRecord published =
        PublishedRules.record(
            new Rules(
                3,
                measures(List.of(usage)),
                List.of(
                    new Rules.OfApplications("shop", measures(List.of(calls, usage))),
                    new Rules.OfApplications("bank", measures(List.of())))),
            7);

    assertThat(PublishedRules.rules(RulesRecord.FORMAT.decode(published.encode(), 7)))
        .isEqualTo(
            new Rules(
                3,
                RuleKeys.NONE,
                List.of(
                    new Rules.OfApplications("shop", measures(List.of(calls, usage))),
                    new Rules.OfApplications("bank", measures(List.of())),
                    new Rules.OfApplications("*", measures(List.of(usage))))));
  }

  @Test
  void objectivesAreReadAsPublished() throws Exception {
    ObjectiveConfig fast =
        new ObjectiveConfig(
            "fast", 99.9, Duration.ofMillis(300), "GET *", Set.of(SpanKind.SERVER), null);
    ObjectiveConfig slower =
        new ObjectiveConfig("fast", 99.9, Duration.ofSeconds(1), null, null, Duration.ofDays(30));
    Rules rules =
        new Rules(
            3,
            objectives(List.of(fast)),
            List.of(
                new Rules.OfApplications("shop", objectives(List.of(slower))),
                new Rules.OfApplications("bank", objectives(List.of()))));
    RulesRecord published = PublishedRules.record(rules, 7);

    assertThat(PublishedRules.rules(RulesRecord.FORMAT.decode(published.encode(), 7)))
        .isEqualTo(
            new Rules(
                3,
                RuleKeys.NONE,
                List.of(
                    new Rules.OfApplications("shop", objectives(List.of(slower))),
                    new Rules.OfApplications("bank", objectives(List.of())),
                    new Rules.OfApplications("*", objectives(List.of(fast))))));
    assertThat(rules.objectives()).containsExactly(fast);

    ObjectiveConfig stricter = new ObjectiveConfig("fast", 99.99, null, null, null, null);
    Rules other =
        new Rules(
            3,
            objectives(List.of(fast)),
            List.of(new Rules.OfApplications("shop", objectives(List.of(stricter)))));
    assertThatThrownBy(other::objectives)
        .hasMessage(
            "applications[0].objectives[0].name = fast: must have the same target and window in all rules; choose"
                + " another name");
    refuses(
        "513 objectives", objectives(Collections.nCopies(RulesRecord.MAX_OBJECTIVES + 1, fast)));
  }

  private static RuleKeys objectives(List<ObjectiveConfig> objectives) {
    return new RuleKeys(null, null, null, null, null, null, null, null, null, objectives);
  }

  private static RuleKeys measures(List<MeasureConfig> measures) {
    return new RuleKeys(null, null, null, null, null, null, null, null, measures);
  }

  @Test
  void bucketsAndUnitsAreReadAsPublished() throws Exception {
    RuleKeys ofAll = ofForm(List.of(0.25, 10.0), null, null, Unit.SECONDS);
    RuleKeys ofShop = ofForm(null, Kind.BOTH, -2, null);
    RulesRecord published =
        PublishedRules.record(
            new Rules(3, ofAll, List.of(new Rules.OfApplications("shop", ofShop))), 7);

    assertThat(PublishedRules.rules(RulesRecord.FORMAT.decode(published.encode(), 7)))
        .isEqualTo(
            new Rules(
                3,
                RuleKeys.NONE,
                List.of(
                    new Rules.OfApplications(
                        "shop", ofForm(ofAll.boundsMillis(), Kind.BOTH, -2, Unit.SECONDS)),
                    new Rules.OfApplications("*", ofAll))));
  }

  private static RuleKeys ofForm(List<Double> bounds, Kind kind, Integer schema, Unit unit) {
    return new RuleKeys(null, null, bounds, kind, schema, unit, null, null, null);
  }

  @Test
  void formsForWhichServersHaveNoRoomAreRefused() {
    EffectiveRules configured =
        EffectiveRules.of(
            SeriesConfig.defaults(),
            new HistogramConfig(List.of(1.0, 2.0)),
            MetricsConfig.defaults(),
            DocumentsConfig.defaults(),
            List.of());
    new Rules(1, ofForm(List.of(3.0, 4.0), Kind.BOTH, 8, Unit.SECONDS), List.of())
        .checkForms(configured);
    assertThatThrownBy(() ->
            new Rules(1, ofForm(List.of(3.0, 4.0, 5.0), null, null, null), List.of())
                .checkForms(configured))
        .hasMessageContaining("bounds-millis = 3 of them: must be at most 2");
    List<Rules.OfApplications> many =
        IntStream.range(0, Rules.MAX_FORMS)
            .mapToObj(
                i -> new Rules.OfApplications("a" + i, ofForm(List.of(i + 1.0), null, null, null)))
            .toList();
    assertThatThrownBy(() -> new Rules(1, RuleKeys.NONE, many).checkForms(configured))
        .hasMessageContaining("25 combinations of buckets and unit: must be at most 24");
  }

  @Test
  void recordOfInvalidRulesIsRefused() {
    for (RulesRecord.Rule rule :
        List.of(
            new RulesRecord.Rule(
                0,
                null,
                null,
                List.of(new RulesRecord.Dimension("a", "le", RulesRecord.Source.ANY)),
                null),
            new RulesRecord.Rule(
                0, null, null, null, List.of(new RulesRecord.Template("*", "(", "a"))))) {
      RulesRecord record = new RulesRecord(1, 1, Map.of("*", rule));

      assertThatThrownBy(() -> PublishedRules.rules(record)).isInstanceOf(ConfigException.class);
    }
  }

  private static void refuses(String why, Dimension dimension) {
    refuses(why, ofSeries(List.of(dimension), null));
  }

  private static void refuses(String why, TemplatesConfig.Rule template) {
    refuses(why, ofSeries(null, List.of(template)));
  }

  private static void refuses(String why, RuleKeys keys) {
    assertThatThrownBy(() -> PublishedRules.record(new Rules(1, keys, List.of()), 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(why);
  }

  private static RuleKeys ofSeries(
      List<Dimension> dimensions, List<TemplatesConfig.Rule> templates) {
    return new RuleKeys(dimensions, templates, null, null, null, null, null, null, null);
  }

  private static void refuses(String why, long revision, int rules, int thresholds) {
    assertThatThrownBy(() -> record(revision, rules, thresholds))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(why);
  }

  private static RulesRecord record(long revision, int rules, int thresholds) {
    return PublishedRules.record(
        new Rules(
            revision,
            keys(null, List.of()),
            IntStream.range(0, rules)
                .mapToObj(i ->
                    new Rules.OfApplications(
                        "a" + i, keys(null, Collections.nCopies(i == 0 ? thresholds : 0, BATCHES))))
                .toList()),
        1);
  }

  private static Rules named(String application, String ofThreshold) {
    return new Rules(
        1,
        RuleKeys.NONE,
        List.of(
            new Rules.OfApplications(
                application,
                keys(null, List.of(new Threshold(ofThreshold, Set.of(), Duration.ZERO))))));
  }

  private static RuleKeys keys(Duration slowerThan, List<Threshold> thresholds) {
    return new RuleKeys(null, null, null, null, null, null, slowerThan, thresholds, null);
  }
}
