package org.traceetl.server.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/** Which keys apply to an application. */
final class RulesTest {
  private static final Dimension ROUTE = new Dimension("http.route", null, null);
  private static final Dimension REGION = new Dimension("region", null, null);
  private static final Dimension EVENT = new Dimension("event.name", null, From.EVENT_NAME);

  private final SeriesConfig series = SeriesConfig.defaults().withDimensions(List.of(ROUTE, EVENT));
  private final EffectiveRules configured =
      EffectiveRules.of(
          series,
          new HistogramConfig(List.of(1.0, 2.0)),
          MetricsConfig.defaults(),
          DocumentsConfig.defaults(),
          List.of());

  private final RuleKeys ofAll =
      new RuleKeys(null, null, null, Kind.BOTH, 5, null, Duration.ofSeconds(3), null, null);
  private final RuleKeys ofShop =
      new RuleKeys(List.of(), null, null, null, 1, Unit.SECONDS, null, null, null);
  private final RuleKeys ofShops =
      new RuleKeys(List.of(REGION), null, List.of(7.0), null, null, null, null, null, null);
  private final Rules rules =
      new Rules(
          12,
          ofAll,
          List.of(
              new Rules.OfApplications("shop", ofShop),
              new Rules.OfApplications("shop*", ofShops)));

  @Test
  void configurationHasNoDimensionsOfEvents() {
    assertThat(configured.dimensions()).containsExactly(ROUTE);
  }

  @Test
  void defaultsReplaceKeysOfTheConfiguration() {
    EffectiveRules of = rules.of("bank", configured);

    assertThat(of.dimensions()).containsExactly(ROUTE);
    assertThat(of.histogram()).isEqualTo(new HistogramConfig(List.of(1.0, 2.0), Kind.BOTH, 5));
    assertThat(of.slowerThan()).isEqualTo(Duration.ofSeconds(3));
    assertThat(of.unit()).isEqualTo(configured.unit());
  }

  @Test
  void firstMatchReplacesKeysOfTheDefaults() {
    EffectiveRules shop = rules.of("shop", configured);
    EffectiveRules shops = rules.of("shop-eu", configured);

    assertThat(shop.dimensions()).isEmpty();
    assertThat(shop.histogram()).isEqualTo(new HistogramConfig(List.of(1.0, 2.0), Kind.BOTH, 1));
    assertThat(shop.unit()).isEqualTo(Unit.SECONDS);
    assertThat(shops.dimensions()).containsExactly(REGION);
    assertThat(shops.histogram()).isEqualTo(new HistogramConfig(List.of(7.0), Kind.BOTH, 5));
    assertThat(shops.slowerThan()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void sectionsKeepTheirOtherKeys() {
    EffectiveRules shops = rules.of("shop-eu", configured);
    SeriesConfig limited =
        new SeriesConfig(List.of(ROUTE), null, null, 7, null, null, null, 99, null);

    assertThat(shops.in(limited))
        .isEqualTo(new SeriesConfig(List.of(REGION), null, null, 7, null, null, null, 99, null));
    assertThat(shops.in(DocumentsConfig.defaults()).slowerThan()).isEqualTo(Duration.ofSeconds(3));
    assertThat(rules.of("shop", configured).in(MetricsConfig.defaults()).unit())
        .isEqualTo(Unit.SECONDS);
  }
}
