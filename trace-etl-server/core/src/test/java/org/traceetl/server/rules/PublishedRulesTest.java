package org.traceetl.server.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SpanKind;

/** Which thresholds a record of rules has, and that servers read them from it. */
final class PublishedRulesTest {
  private static final Threshold BATCHES = new Threshold("batch-*", null, Duration.ofDays(365));
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
    refuses("applications = 129 rules with 1 thresholds", 1, 128, 1);
    refuses("applications = 2 rules with 129 thresholds", 1, 1, 129);
    assertThatThrownBy(() -> PublishedRules.record(named("a".repeat(257), "b"), 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("application = aaa");
    assertThatThrownBy(() -> PublishedRules.record(named("a", "b".repeat(257)), 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("documents.thresholds.application = bbb");
    assertThat(Demand.MAX_RULES).isGreaterThanOrEqualTo(RulesRecord.MAX_RULES);
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
    return new RuleKeys(null, null, null, null, null, null, slowerThan, thresholds);
  }
}
