package org.traceetl.server.web;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Components;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.completeness.Completeness;
import org.traceetl.server.features.completeness.CompletenessResource;
import org.traceetl.server.features.demand.DemandResource;
import org.traceetl.server.features.deploys.DeployedShop;
import org.traceetl.server.features.discovery.DiscoveryConfig;
import org.traceetl.server.features.discovery.DiscoveryFeature;
import org.traceetl.server.features.graph.Graphs;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.history.HistoryConfig;
import org.traceetl.server.features.history.HistoryFeature;
import org.traceetl.server.features.hotspot.Hotspots;
import org.traceetl.server.features.hotspot.HotspotsResource;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.IndexFeature;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.features.index.TraceQuery;
import org.traceetl.server.features.index.WriteResult;
import org.traceetl.server.features.learn.CardinalityResource;
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.features.preview.PreviewFeature;
import org.traceetl.server.features.preview.RulesComparison;
import org.traceetl.server.features.preview.RulesCost;
import org.traceetl.server.features.rules.RulesResource;
import org.traceetl.server.features.why.Shop;
import org.traceetl.server.features.why.Why;
import org.traceetl.server.features.why.WhyConfig;
import org.traceetl.server.features.why.WhyFeature;
import org.traceetl.server.http.Feature;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraNaming;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.delta.DeltaOptions;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.DeltaWindows;
import org.traceetl.server.ozhera.delta.MemoryPositions;
import org.traceetl.server.ozhera.delta.http.DeltaFeature;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.StoredDocuments;
import org.traceetl.server.window.TraceDocument;

/** What stands behind the port, without a broker: windows are given by hand. */
final class HandMadeService implements Feature {
  /** What the history takes for now. */
  static final Instant NOW = Instant.parse("2026-11-21T00:01:30Z");

  /** The longest file of rules. */
  static final int PREVIEWED_BYTES = 1_000;

  private static final DocumentsConfig DOCUMENTS =
      new DocumentsConfig(
          null,
          List.of(
              new DocumentsConfig.Threshold(
                  "shop-*", Set.of(SpanKind.CONSUMER), Duration.ofSeconds(30))),
          null,
          null,
          null,
          null);

  private static final EffectiveRules RULES =
      new EffectiveRules(
          List.of(new SeriesConfig.Dimension("cloud.region", "region", SeriesConfig.From.RESOURCE)),
          List.of(new TemplatesConfig.Rule(null, "job .*", "job")),
          new HistogramConfig(null),
          MetricsConfig.Unit.SECONDS,
          DOCUMENTS.slowerThan(),
          DOCUMENTS.thresholds(),
          List.of());

  final ServerTelemetry telemetry = new ServerTelemetry("test", Duration.ofMinutes(15));

  final SpanPipelineMetrics metrics = new SpanPipelineMetrics(telemetry);

  /** Null in profile ozhera. */
  final SpanPages pages;

  /** Null in all other profiles. */
  final DeltaPages deltas;

  final Index index = new Index();
  final History history;
  volatile Hotspots hotspots =
      new Hotspots(Hotspots.State.FOLLOWER, 0, 0, 0, 0, Double.NaN, List.of(), List.of());
  volatile KnownQueues queues =
      new KnownQueues(
          List.of(), new QueueWatch.Seen(Map.of(), Map.of(), Set.of()), Set.of(), 1_000);
  final Completeness completeness = new Completeness(() -> true, () -> queues.seen(), () -> NOW);
  volatile LearntNames learnt = LearntNames.NONE;
  volatile Demand demand = Demand.NONE;
  volatile Map<String, String> missing = Map.of();

  /** Whether what is missing is missing at a broker that does not answer. */
  volatile boolean brokerSilent;

  /** Names of the group's clients. */
  volatile List<String> members = List.of();

  final DiscoveryFeature fleet =
      new DiscoveryFeature(
          new DiscoveryConfig(null, Duration.ZERO),
          () -> {
            if (members == null) {
              throw new IOException("the broker is away");
            }
            return members;
          },
          Clocks.SYSTEM);

  /** Compares rules for callers of the API. */
  volatile PreviewFeature.Comparer comparer = (application, since, rules) -> comparison();

  /** Reads messages for questions. */
  volatile Why.Source messages =
      (from, until, limits, reader) -> {
        Shop.failing(1)
            .messages(10_000)
            .forEach(message -> reader.add(new QueueId("broker-a", 0), message));
        return new RetainedMessages.Extent(from.toEpochMilli(), true);
      };

  volatile boolean drained;
  volatile boolean closed;

  /** Of all applications. */
  static final List<ObjectiveConfig> OBJECTIVES =
      List.of(
          new ObjectiveConfig("fast", 99.0, Duration.ofMillis(300), "GET *", null, null),
          new ObjectiveConfig("unused", 99.9, null, null, null, null));

  HandMadeService(ServerConfig config) {
    HistoryConfig own = config.feature(HistoryConfig.class);
    history =
        new History(
            own.maxApplications(),
            own.maxOperations(),
            config.histogram().boundsNanos(),
            () -> NOW,
            new SplittableRandom(1));
    Profile profile = config.metrics().profile();
    OzheraConfig ozhera = (OzheraConfig) config.settings(new OzheraProfile());
    boolean isOzhera = profile instanceof OzheraProfile;
    boolean givesDeltas = isOzhera && ozhera.temporality() == OzheraConfig.Temporality.DELTA;
    pages =
        givesDeltas
            ? null
            : new SpanPages(
                isOzhera
                    ? new OzheraNaming(config.metrics(), ozhera)
                    : new SpanNaming(config.metrics(), config.series(), config.histogram()),
                Clocks.SYSTEM,
                nanos -> {});
    deltas =
        givesDeltas
            ? new DeltaPages(
                new DeltaOptions(
                    ozhera,
                    config.histogram().boundsNanos().length + 1,
                    "group",
                    config.window().length(),
                    config.series().max(),
                    Duration.ofMinutes(5)),
                new MemoryPositions(),
                nanos -> {},
                new Clocks(System::nanoTime, Clock.fixed(DeltaWindows.SEALED, ZoneOffset.UTC)))
            : null;
  }

  /** Remembers the service that it makes. */
  static final class Factory implements Function<ServerConfig, ServerComponents> {
    HandMadeService made;

    @Override
    public ServerComponents apply(ServerConfig config) {
      made = new HandMadeService(config);
      return made.assembled(config);
    }
  }

  private ServerComponents assembled(ServerConfig config) {
    Feature shown =
        deltas == null
            ? new PagesFeature(pages, null, telemetry, System::nanoTime)
            : new DeltaFeature(deltas, telemetry);
    var indexed =
        new IndexFeature(
            config.feature(IndexConfig.class),
            index,
            queue -> {
              throw new IOException("there is no journal");
            },
            Clocks.SYSTEM,
            new SplittableRandom(1));
    double slowMillis = config.documents().slowerThan().toNanos() / 1e6;
    var live =
        new HistoryFeature(
            config.feature(HistoryConfig.class).enabled() ? history : null,
            () -> queues,
            slowMillis,
            application -> OBJECTIVES);
    AccessFile tenants =
        config.web().accessFile() == null
            ? null
            : new AccessFile(
                config.web().accessFile(),
                config.web().signIn(),
                Clocks.SYSTEM,
                policy -> metrics.tenants().tenants(policy.belonging()));
    return new ServerComponents(
        telemetry,
        new Components(
            telemetry,
            Stream.of(
                    shown,
                    indexed,
                    live,
                    fleet,
                    Graphs.feature(() -> NOW),
                    DeployedShop.feature(() -> NOW),
                    this,
                    new PreviewFeature(
                        (application, since, rules) -> comparer.compare(application, since, rules),
                        PREVIEWED_BYTES,
                        Clocks.SYSTEM),
                    why(),
                    tenants)
                .filter(Objects::nonNull)
                .toList(),
            System::nanoTime),
        Clocks.SYSTEM,
        tenants);
  }

  private WhyFeature why() {
    WhyConfig config = WhyConfig.defaults();
    return new WhyFeature(
        config,
        new Why(
            config,
            application ->
                new SpanNames(new NamePatterns(List.of()), true, 1_000, () -> LearntNames.NONE),
            1_000,
            (from, until, limits, reader) -> messages.read(from, until, limits, reader),
            StoredDocuments.NONE,
            Clocks.SYSTEM),
        Clocks.SYSTEM);
  }

  static RulesComparison comparison() {
    RulesCost inForce =
        new RulesCost(
            "configuration", List.of(), 1.0, 0, 0, 1, 2, 0, 0, 3, 4, 5, List.of(), List.of());
    RulesCost proposed =
        new RulesCost(
            "revision 1",
            List.of("user"),
            null,
            9,
            0,
            2,
            3,
            1,
            1,
            4,
            5,
            6,
            List.of(
                new RulesCost.Label(
                    "user", 2, true, 1, false, List.of(new RulesCost.Value("u1", 1)))),
            List.of(new RulesCost.Measure("tokens", false, 1, 1, 2, 3, 4)));
    return new RulesComparison("shop", 9, 0, 8, 7, 0, 2, 100, NOW, true, inForce, proposed);
  }

  /** Answers every search with the same page. */
  static final class Index implements TraceIndex {
    volatile TraceQuery asked;
    volatile TracePage answer = new TracePage(List.of(), null);
    volatile boolean broken;

    /** What a search throws besides; null for nothing. */
    volatile RuntimeException fault;

    @Override
    public WriteResult write(List<TraceDocument> documents) {
      throw new UnsupportedOperationException("only searched");
    }

    @Override
    public TracePage search(TraceQuery query) throws IOException {
      asked = query;
      if (broken) {
        throw new IOException("secret host is away");
      }
      if (fault != null) {
        throw fault;
      }
      return answer;
    }

    @Override
    public boolean healthy() {
      return !broken;
    }

    @Override
    public void close() {
      // Holds nothing.
    }
  }

  @Override
  public List<Object> resources() {
    return List.of(
        new HotspotsResource(() -> hotspots),
        new DemandResource(() -> "0a1b", () -> demand),
        new RulesResource(new RulesResource.Sources(null, RULES)),
        new CompletenessResource(completeness),
        new CardinalityResource(metrics.cardinality(), () -> learnt));
  }

  @Override
  public Map<String, String> missing() {
    return missing;
  }

  @Override
  public boolean ready() {
    return brokerSilent || missing.isEmpty();
  }

  @Override
  public boolean drain(Duration within) throws InterruptedException {
    drained = true;
    try {
      if (deltas == null) {
        pages.await(within);
      } else {
        deltas.await(within);
      }
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    }
    return true;
  }

  @Override
  public void close() {
    closed = true;
  }
}
