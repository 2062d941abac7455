package org.traceetl.server.features.push;

import static org.traceetl.common.ConfigException.check;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.expose.EdgeNaming;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.journal.chain.JournalComponent;

/** Pushes by Remote Write and OTLP. */
public final class PushType implements FeatureType {
  /** Opens the transport to an endpoint. Simulations replace it. */
  @FunctionalInterface
  public interface Opener {
    /** Opens the transport. Does not wait for the receiver. */
    WriteTransport open(PushConfig.Endpoint endpoint, Clocks clocks);
  }

  private static final class Section implements ConfigSection<PushKeys, PushConfig> {
    @Override
    public String prefix() {
      return "push";
    }

    @Override
    public Class<PushKeys> keys() {
      return PushKeys.class;
    }

    @Override
    public Class<PushConfig> type() {
      return PushConfig.class;
    }

    @Override
    public PushConfig config(PushKeys keys, Profile profile) {
      return keys == null ? PushConfig.defaults() : keys.toConfig();
    }

    @Override
    public void validate(PushConfig own, MetricsConfig metrics) {
      check(
          own.endpoints().isEmpty() || metrics.queueLabel() == MetricsConfig.QueueLabel.ALWAYS,
          "trace-etl.metrics.queue-label",
          metrics.queueLabel().name().toLowerCase(Locale.ROOT),
          "must be always if trace-etl.push.endpoints has an endpoint: otherwise two"
              + " queues may push series with the same labels");
    }

    @Override
    public void checkFiles(PushConfig own) {
      own.endpoints().forEach(endpoint -> ClientTls.context(endpoint.tls()));
    }
  }

  /** Names of endpoints have no slash. */
  private static final String EDGES_SUFFIX = "/edges";

  private final Opener opener;

  /** Creates the feature with transport by HTTP and gRPC. */
  public PushType() {
    this((endpoint, clocks) ->
        endpoint.fixedProtocol() == Protocol.OTLP_GRPC
            ? new GrpcTransport(endpoint, clocks)
            : new HttpTransport(endpoint, clocks));
  }

  /** Creates the feature with another transport. */
  public PushType(Opener opener) {
    this.opener = opener;
  }

  @Override
  public ConfigSection<PushKeys, PushConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    PushConfig config = (PushConfig) own;
    if (config.endpoints().isEmpty()) {
      return new PushFeature(List.of(), null, null);
    }
    CoreConfig core = context.config();
    Naming ofProfile = context.profile().naming();
    Naming spans =
        ofProfile == null
            ? new SpanNaming(core.metrics(), core.series(), core.histogram())
            : ofProfile;
    List<PushEndpoint> endpoints =
        endpoints(config, "", spans, core.rocketmq().consumerGroup(), context.clocks());
    PushFollower ofSpans = follower(endpoints, context.journal(), context.clocks());
    if (!core.edges().enabled()) {
      return new PushFeature(endpoints, ofSpans, null);
    }
    Naming edges =
        new EdgeNaming(core.histogram(), spans.hasUtf8Names(), core.edges().dimensions());
    String group = core.edges().source(core.rocketmq()).consumerGroup();
    List<PushEndpoint> edgeEndpoints =
        endpoints(config, EDGES_SUFFIX, edges, group, context.clocks());
    return new PushFeature(
        Stream.concat(endpoints.stream(), edgeEndpoints.stream()).toList(),
        ofSpans,
        follower(edgeEndpoints, context.edgesJournal(), context.clocks()));
  }

  /**
   * @param suffix of the endpoints' names
   * @param consumerGroup of those who read what the series count
   */
  private List<PushEndpoint> endpoints(
      PushConfig config, String suffix, Naming naming, String consumerGroup, Clocks clocks) {
    return config.endpoints().stream()
        .map(endpoint ->
            new PushEndpoint(
                endpoint.name() + suffix,
                endpoint,
                consumerGroup + "-push-" + endpoint.name(),
                naming(config, endpoint, naming),
                opener.open(endpoint, clocks),
                clocks))
        .toList();
  }

  private static PushFollower follower(
      List<PushEndpoint> endpoints, JournalComponent journal, Clocks clocks) {
    Map<String, String> groups =
        endpoints.stream().collect(Collectors.toMap(PushEndpoint::name, PushEndpoint::group));
    return new PushFollower(
        List.copyOf(endpoints),
        (queue, endpoint) -> journal.journals().replay(queue, groups.get(endpoint)),
        clocks);
  }

  static PushNaming naming(PushConfig config, PushConfig.Endpoint endpoint, Naming ofPage) {
    Map<String, String> labels = new LinkedHashMap<>(config.labels());
    labels.put("job", config.job());
    labels.put("instance", config.instance());
    if (!endpoint.isOtlp()) {
      return new PushNaming(ofPage, labels);
    }
    // Receivers make these labels of attributes of the resource.
    labels.keySet().removeAll(Set.of("job", "instance"));
    Map<String, String> resource = new LinkedHashMap<>(endpoint.resourceAttributes());
    if (!config.instance().isEmpty()) {
      resource.put("service.instance.id", config.instance());
    }
    return new PushNaming(ofPage, labels, resource);
  }
}
