package org.traceetl.perf.demand;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.features.demand.DemandConfig;

/** Random configurations of servers, whose limits no test reaches. */
final class RandomServers {
  private static final int MANY = 1_000_000;

  /** Names of applications are not cut: agents compare the whole ones with those of thresholds. */
  private static final int LONGEST_APPLICATION = "unknown_service".length();

  private static final List<String> APPLICATIONS =
      List.of("*", "cart", "shop-*", "unknown_*", "none");
  private static final List<From> OF_SPANS = List.of(From.SPAN, From.RESOURCE, From.ANY);

  private final Random random;

  RandomServers(Random random) {
    this.random = random;
  }

  ServerConfig next() {
    return with(dimensions(), null);
  }

  /** Returns a configuration that has room for few series of an application. */
  ServerConfig crowded() {
    return with(dimensions(), 1 + random.nextInt(6));
  }

  /** Returns a configuration that series need the attribute of spans for. */
  ServerConfig with(String key) {
    List<Dimension> dimensions = new ArrayList<>(dimensions());
    dimensions.removeIf(dimension -> dimension.attribute().equals(key));
    dimensions.add(new Dimension(key, label(key), random.nextBoolean() ? From.SPAN : From.ANY));
    return with(dimensions, null);
  }

  /** Returns the same configuration, whose series do not need the attribute. */
  static ServerConfig without(String key, ServerConfig config) {
    return new ServerConfig(
        null,
        null,
        null,
        config
            .series()
            .withDimensions(
                config.series().dimensions().stream()
                    .filter(dimension -> !dimension.attribute().equals(key))
                    .toList()),
        config.histogram(),
        config.documents(),
        config.metrics(),
        null,
        null,
        config.events(),
        null,
        null,
        null,
        null,
        null,
        null);
  }

  /** Returns the same configuration with other thresholds of slow spans. */
  ServerConfig withOtherThresholds(ServerConfig config) {
    DocumentsConfig documents = config.documents();
    return new ServerConfig(
        null,
        null,
        null,
        config.series(),
        config.histogram(),
        new DocumentsConfig(threshold(), thresholds(), documents.attributes(), MANY, MANY, MANY),
        config.metrics(),
        null,
        null,
        config.events(),
        null,
        null,
        null,
        null,
        null,
        null);
  }

  private ServerConfig with(List<Dimension> dimensions, Integer maxPerApplication) {
    return new ServerConfig(
        null,
        null,
        null,
        new SeriesConfig(
            dimensions,
            filters(),
            null,
            maxPerApplication,
            null,
            null,
            null,
            random.nextBoolean() ? null : LONGEST_APPLICATION + random.nextInt(20),
            new TemplatesConfig(random.nextBoolean(), templates())),
        new HistogramConfig(
            List.of(1.0, 50.0, 1_000.0),
            random.nextBoolean() ? HistogramConfig.Kind.CLASSIC : HistogramConfig.Kind.BOTH,
            null),
        new DocumentsConfig(threshold(), thresholds(), some(RandomRequests.KEYS), MANY, MANY, MANY),
        new MetricsConfig(null, null, null, MetricsConfig.QueueLabel.ALWAYS, null, null, null),
        Map.of("demand", demand()),
        null,
        random.nextBoolean() ? null : new EventsConfig(true, List.of("exception.type")),
        null,
        null,
        null,
        null,
        null,
        null);
  }

  private DemandConfig demand() {
    return new DemandConfig(
        true,
        Duration.ofSeconds(1 + random.nextInt(2)),
        random.nextInt(4) == 0 ? List.of("shop-2") : List.of());
  }

  private List<Dimension> dimensions() {
    return some(RandomRequests.KEYS).stream()
        .map(key -> new Dimension(key, label(key), one(OF_SPANS)))
        .toList();
  }

  /** Returns the label of a dimension. */
  static String label(String key) {
    return "d_" + key.replace('.', '_');
  }

  private List<SeriesConfig.Filter> filters() {
    return random.nextInt(4) > 0
        ? List.of()
        : List.of(new SeriesConfig.Filter("shop-*", "GET *", Set.of(SpanKind.CLIENT)));
  }

  private List<TemplatesConfig.Rule> templates() {
    return random.nextInt(4) > 0
        ? List.of()
        : List.of(new TemplatesConfig.Rule("cart", "GET /([a-z]+).*", "GET $1"));
  }

  private List<DocumentsConfig.Threshold> thresholds() {
    List<DocumentsConfig.Threshold> thresholds = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      Set<SpanKind> kinds = EnumSet.noneOf(SpanKind.class);
      for (int j = random.nextInt(3); j > 0; j--) {
        kinds.add(SpanKind.values()[random.nextInt(SpanKind.values().length)]);
      }
      thresholds.add(new DocumentsConfig.Threshold(one(APPLICATIONS), kinds, threshold()));
    }
    return thresholds;
  }

  private Duration threshold() {
    // Mostly long: otherwise few spans are ordinary.
    int last = RandomRequests.THRESHOLDS_NANOS.length - 1;
    int drawn = Math.max(random.nextInt(last + 1), random.nextInt(last + 1));
    return Duration.ofNanos(RandomRequests.THRESHOLDS_NANOS[drawn]);
  }

  private <T> List<T> some(List<T> of) {
    return of.stream().filter(any -> random.nextInt(3) == 0).toList();
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }
}
