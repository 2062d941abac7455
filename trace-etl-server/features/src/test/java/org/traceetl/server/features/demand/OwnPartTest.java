package org.traceetl.server.features.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SpanNeeds;

final class OwnPartTest {
  private static final int FORMATS =
      Demand.BUNDLES
          | Demand.PANES
          | Demand.HEARTBEATS
          | Demand.OPEN_PANES
          | Demand.LABELS
          | Demand.FORMS
          | Demand.VARIANCES;

  private final List<Dimension> dimensions = new ArrayList<>();
  private final List<Threshold> thresholds = new ArrayList<>();
  private final Map<String, Set<String>> ofRules = new HashMap<>();
  private MetricsConfig metrics = MetricsConfig.defaults();
  private EdgesConfig edges = EdgesConfig.defaults();
  private List<MeasureConfig> measures = List.of();

  /** Only what a demand depends on. */
  private record Config(
      SeriesConfig series,
      DocumentsConfig documents,
      WindowConfig window,
      MetricsConfig metrics,
      EdgesConfig edges,
      List<MeasureConfig> measures)
      implements CoreConfig {
    @Override
    public RocketMqConfig rocketmq() {
      throw new UnsupportedOperationException();
    }

    @Override
    public JournalConfig journal() {
      throw new UnsupportedOperationException();
    }

    @Override
    public HistogramConfig histogram() {
      throw new UnsupportedOperationException();
    }

    @Override
    public DeduplicationConfig deduplication() {
      throw new UnsupportedOperationException();
    }

    @Override
    public AgentsConfig agents() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Record settings(Profile profile) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void attributesOfSpansAndThresholdsAreDemanded() {
    dimensions.add(new Dimension("rpc.method", null, From.SPAN));
    dimensions.add(new Dimension("http.route", null, From.ANY));
    dimensions.add(new Dimension("host.name", null, From.RESOURCE));
    thresholds.add(
        new Threshold("shop-*", Set.of(SpanKind.SERVER, SpanKind.CLIENT), Duration.ofMillis(250)));
    thresholds.add(new Threshold(null, null, Duration.ofSeconds(2)));

    Part part = part(new DemandConfig(null, null, List.of("audit")), false);

    assertThat(part.everything()).isFalse();
    assertThat(part.spanKeys())
        .as("not those of events")
        .containsExactly("http.route", "rpc.method");
    assertThat(part.slowRules())
        .containsExactly(
            new SlowRule("shop-*", 1 << 2 | 1 << 3, 250_000_000),
            new SlowRule("*", 0, 2_000_000_000));
    assertThat(part.slowOtherwiseNanos()).isEqualTo(1_000_000_000);
    assertThat(part.exemplarIntervalMillis())
        .isEqualTo((int) new WindowConfig(null, null, null, null, null).length().toMillis());
    assertThat(part.full()).containsExactly("audit");
    assertThat(part.formats()).isEqualTo(FORMATS);
  }

  @Test
  void attributesOfRulesAreDemandedInAdditionToThoseOfTheConfiguration() {
    dimensions.add(new Dimension("http.route", null, null));
    OwnPart before = own(DemandConfig.defaults(), false);
    ofRules.put("*", Set.of("rpc.method", "http.route"));

    assertThat(part(DemandConfig.defaults(), false).spanKeys())
        .containsExactly("http.route", "rpc.method");
    ofRules.put("*", Set.of("http.route"));
    assertThat(own(DemandConfig.defaults(), false)).isEqualTo(before);
    ofRules.put("*", keys(Demand.MAX_KEYS));
    assertThat(part(DemandConfig.defaults(), false).everything()).isTrue();
  }

  @Test
  void attributesOfRulesAreDemandedOfTheirApplicationsOnly() {
    dimensions.add(new Dimension("http.route", null, null));
    ofRules.put("*", Set.of("region"));
    ofRules.put("shop-*", Set.of("http.route", "region", "rpc.method"));
    ofRules.put("cart", Set.of("rpc.method", "zone"));
    ofRules.put("audit", Set.of());

    assertThat(wanted("orders")).containsExactly("http.route", "region");
    assertThat(wanted("shop-eu")).containsExactly("http.route", "region", "rpc.method");
    assertThat(wanted("cart")).containsExactly("http.route", "region", "rpc.method", "zone");
    assertThat(part(DemandConfig.defaults(), false).keyRules())
        .extracting(KeyRule::application)
        .containsExactly("cart", "shop-*");
  }

  @Test
  void morePatternsThanAPartHasMakeAttributesNeededOfAll() {
    for (int i = 0; i <= Demand.MAX_KEY_RULES; i++) {
      ofRules.put("a" + i, Set.of("region"));
    }
    assertThat(wanted("orders")).containsExactly("region");
    ofRules.remove("a0");
    assertThat(wanted("orders")).isEmpty();
    assertThat(wanted("a1")).containsExactly("region");
  }

  @Test
  void allKeysOfAPartMayBeOfOneApplication() {
    ofRules.put("shop", keys(Demand.MAX_KEYS - 1));

    assertThat(wanted("orders")).isEmpty();
    assertThat(wanted("shop")).hasSize(Demand.MAX_KEYS);
  }

  private List<String> wanted(String application) {
    return new Demand(1, 0, Map.of("own", part(DemandConfig.defaults(), false)))
        .of(application)
        .spanKeys();
  }

  private static Set<String> keys(int last) {
    return IntStream.rangeClosed(0, last).mapToObj(i -> "k" + i).collect(Collectors.toSet());
  }

  @Test
  void sizesAreNeededIfTheyAreAMetric() {
    String before = own(DemandConfig.defaults(), false).fingerprint();
    metrics = new MetricsConfig(null, null, null, null, null, null, true);

    assertThat(part(DemandConfig.defaults(), false).formats() & Demand.SIZES).isNotZero();
    assertThat(own(DemandConfig.defaults(), false).fingerprint()).isNotEqualTo(before);
  }

  @Test
  void halfEdgesAreReadIfTheyAreEnabled() {
    String before = own(DemandConfig.defaults(), false).fingerprint();
    edges = edges(true);

    assertThat(part(DemandConfig.defaults(), false).formats() & Demand.EDGES).isNotZero();
    assertThat(own(DemandConfig.defaults(), false).fingerprint()).isNotEqualTo(before);
  }

  @Test
  void dimensionsOfEdgesAreNeededInAnyOrder() {
    edges = edges(true, "service.namespace", "http.route");
    OwnPart own = own(DemandConfig.defaults(), false);

    assertThat(own.part().edgeKeys()).containsExactly("http.route", "service.namespace");
    assertThat(own.part().spanKeys()).isEmpty();
    assertThat(part(DemandConfig.defaults(), true).edgeKeys()).hasSize(2);
    edges = edges(true, "http.route", "service.namespace");
    assertThat(own(DemandConfig.defaults(), false)).isEqualTo(own);
    edges = edges(true, "http.route");
    assertThat(own(DemandConfig.defaults(), false).fingerprint()).isNotEqualTo(own.fingerprint());
    edges = edges(false, "http.route");
    assertThat(part(DemandConfig.defaults(), false).edgeKeys()).isEmpty();
  }

  private static EdgesConfig edges(boolean enabled, String... keys) {
    return new EdgesConfig(enabled, null, null, null, null, null, null, null, List.of(keys));
  }

  @Test
  void mappedProfilesNeedEverything() {
    Part part = part(DemandConfig.defaults(), true);

    assertThat(part.everything()).isTrue();
    assertThat(part.formats()).isEqualTo(FORMATS);
  }

  @Test
  void whatARecordCannotContainIsSentInFull() {
    dimensions.add(new Dimension("k".repeat(Demand.MAX_TEXT_BYTES + 1), "long", null));
    assertThat(part(DemandConfig.defaults(), false).everything()).isTrue();
    dimensions.clear();
    thresholds.addAll(
        Collections.nCopies(
            Demand.MAX_RULES + 1, new Threshold(null, null, Duration.ofSeconds(2))));
    assertThat(part(DemandConfig.defaults(), false).everything()).isTrue();
  }

  @Test
  void fingerprintIsThatOfTheContent() {
    dimensions.add(new Dimension("a", null, null));
    dimensions.add(new Dimension("b", null, null));
    OwnPart before = own(DemandConfig.defaults(), false);
    Collections.reverse(dimensions);

    assertThat(before.fingerprint()).hasSize(32).matches("[0-9a-f]*");
    assertThat(Demand.takes(before.fingerprint())).isTrue();
    assertThat(own(DemandConfig.defaults(), false)).isEqualTo(before);
    dimensions.removeFirst();
    assertThat(own(DemandConfig.defaults(), false).fingerprint())
        .isNotEqualTo(before.fingerprint());
    dimensions.clear();
    dimensions.add(new Dimension("a, b", "c", null));
    assertThat(own(DemandConfig.defaults(), false).fingerprint())
        .isNotEqualTo(before.fingerprint());
  }

  @Test
  void valuesOutOfRangeAreRefused() {
    refuses("exemplar-interval", Duration.ofMillis(999), List.of());
    refuses("exemplar-interval", Duration.ofDays(1).plusMillis(1), List.of());
    refuses("full", null, Collections.nCopies(Demand.MAX_FULL + 1, "a"));
    refuses("full", null, List.of(""));
    refuses("full", null, List.of("a".repeat(Demand.MAX_TEXT_BYTES + 1)));
    assertThat(part(new DemandConfig(null, Duration.ofDays(1), null), false))
        .extracting(Part::exemplarIntervalMillis)
        .isEqualTo(86_400_000);
  }

  private static void refuses(String key, Duration interval, List<String> full) {
    assertThatThrownBy(() -> new DemandConfig(null, interval, full))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("trace-etl.demand." + key);
  }

  private OwnPart own(DemandConfig own, boolean everything) {
    SeriesConfig series = SeriesConfig.defaults().withDimensions(dimensions);
    DocumentsConfig documents = new DocumentsConfig(null, thresholds, null, null, null, null);
    return OwnPart.of(
        new Config(
            new EventsConfig(true, null).addTo(series, StandardProfile.OTEL),
            documents,
            new WindowConfig(null, null, null, null, null),
            metrics,
            edges,
            measures),
        own,
        everything,
        new SpanNeeds(new SlowThresholds(documents), ofRules));
  }

  private Part part(DemandConfig own, boolean everything) {
    return own(own, everything).part();
  }
}
