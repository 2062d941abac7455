package org.traceetl.server.series;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;

/** From which duration spans are slow. */
final class SlowThresholdsTest {
  private static final List<String> NAMES = List.of("a", "ab", "aba", "b", "ba", "c");
  private static final List<String> PATTERNS = List.of("*", "a", "ab", "b", "a*", "*a", "a*a", "c");

  private final DocumentsConfig config =
      config(
          Duration.ofSeconds(1), List.of(new Threshold("batch-*", null, Duration.ofSeconds(60))));

  @Test
  void keysThatRulesDoNotHaveAreThoseOfTheConfiguration() {
    SlowThresholds slow =
        new SlowThresholds(
            config,
            new Rules(
                1,
                keys(Duration.ofMillis(500), null),
                List.of(
                    new Rules.OfApplications(
                        "shop",
                        keys(
                            null,
                            List.of(
                                new Threshold(
                                    null, Set.of(SpanKind.CONSUMER), Duration.ofSeconds(30))))),
                    new Rules.OfApplications("sh*", keys(Duration.ofMillis(200), null)))));

    assertThat(millis(slow, "shop", SpanKind.CONSUMER)).isEqualTo(30_000);
    assertThat(millis(slow, "shop", SpanKind.SERVER)).isEqualTo(500);
    assertThat(millis(slow, "shore", SpanKind.CONSUMER)).isEqualTo(200);
    assertThat(millis(slow, "batch-night", SpanKind.SERVER)).isEqualTo(60_000);
    assertThat(millis(slow, "bank", SpanKind.SERVER)).isEqualTo(500);
    assertThat(slow.otherwise()).isEqualTo(Duration.ofMillis(500));
    assertThat(slow.exceptions())
        .containsExactly(
            new Threshold("shop", Set.of(SpanKind.CONSUMER), Duration.ofSeconds(30)),
            new Threshold("shop", Set.of(), Duration.ofMillis(500)),
            // No pattern is both sh* and batch-*, so the list has the lower threshold.
            new Threshold("sh*", Set.of(), Duration.ofMillis(200)),
            new Threshold("batch-*", Set.of(), Duration.ofSeconds(60)));
  }

  @Test
  void withoutRulesTheListIsThatOfTheConfiguration() {
    SlowThresholds slow = new SlowThresholds(config);

    assertThat(slow.exceptions()).isEqualTo(config.thresholds());
    assertThat(slow.otherwise()).isEqualTo(config.slowerThan());
    assertThat(slow.applications())
        .containsExactly(
            new SlowThresholds.OfApplications("*", config.thresholds(), config.slowerThan()));
  }

  @Property(tries = 1_000)
  void listNeverHasAHigherThreshold(@ForAll long seed) {
    Random random = new Random(seed);
    List<Rules.OfApplications> applications = new ArrayList<>();
    boolean[] isExact = {true};
    List<Threshold> configured = thresholds(random);
    for (int i = random.nextInt(4); i > 0; i--) {
      List<Threshold> own = random.nextBoolean() ? thresholds(random) : null;
      String pattern = any(random, PATTERNS);
      (own == null ? configured : own)
          .forEach(each -> isExact[0] &= !areBothWild(pattern, each.application()));
      applications.add(
          new Rules.OfApplications(
              pattern, keys(random.nextBoolean() ? duration(random) : null, own)));
    }
    SlowThresholds slow =
        new SlowThresholds(
            config(duration(random), configured), new Rules(1, RuleKeys.NONE, applications));

    for (String name : NAMES) {
      for (SpanKind kind : SpanKind.values()) {
        long listed = listed(slow, name, kind).toMillis();
        if (isExact[0]) {
          assertThat(listed).isEqualTo(millis(slow, name, kind));
        } else {
          assertThat(listed).isLessThanOrEqualTo(millis(slow, name, kind));
        }
      }
    }
  }

  private static boolean areBothWild(String pattern, String ofThreshold) {
    return pattern.contains("*")
        && ofThreshold.contains("*")
        && !pattern.equals("*")
        && !ofThreshold.equals("*")
        && !pattern.equals(ofThreshold);
  }

  private static Duration listed(SlowThresholds slow, String name, SpanKind kind) {
    return slow.exceptions().stream()
        .filter(each -> new WildcardPattern(each.application()).matches(name))
        .filter(each -> each.kinds().isEmpty() || each.kinds().contains(kind))
        .map(Threshold::slowerThan)
        .findFirst()
        .orElse(slow.otherwise());
  }

  private static List<Threshold> thresholds(Random random) {
    List<Threshold> thresholds = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      Set<SpanKind> kinds =
          random.nextBoolean() ? Set.of() : EnumSet.of(SpanKind.values()[random.nextInt(6)]);
      thresholds.add(new Threshold(any(random, PATTERNS), kinds, duration(random)));
    }
    return thresholds;
  }

  private static Duration duration(Random random) {
    return Duration.ofMillis(random.nextInt(1_000));
  }

  private static String any(Random random, List<String> texts) {
    return texts.get(random.nextInt(texts.size()));
  }

  private static long millis(SlowThresholds slow, String application, SpanKind kind) {
    return Duration.ofNanos(slow.nanosByKind(application)[kind.ordinal()]).toMillis();
  }

  private static DocumentsConfig config(Duration slowerThan, List<Threshold> thresholds) {
    return new DocumentsConfig(slowerThan, thresholds, null, null, null, null);
  }

  private static RuleKeys keys(Duration slowerThan, List<Threshold> thresholds) {
    return new RuleKeys(null, null, null, null, null, null, slowerThan, thresholds, null);
  }
}
