package org.traceetl.server.features.push;

import static org.traceetl.common.ConfigException.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

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
      return new PushFeature(List.of(), null);
    }
    CoreConfig core = context.config();
    Naming ofProfile = context.profile().naming();
    Naming naming =
        ofProfile == null
            ? new SpanNaming(core.metrics(), core.series(), core.histogram())
            : ofProfile;
    List<PushEndpoint> endpoints = new ArrayList<>();
    for (PushConfig.Endpoint endpoint : config.endpoints()) {
      endpoints.add(
          new PushEndpoint(
              endpoint,
              group(core, endpoint.name()),
              naming(config, endpoint, naming),
              opener.open(endpoint, context.clocks()),
              context.clocks()));
    }
    return new PushFeature(
        endpoints,
        new PushFollower(
            List.copyOf(endpoints),
            (queue, endpoint) -> context.journal().journals().replay(queue, group(core, endpoint)),
            context.clocks()));
  }

  private static String group(CoreConfig core, String endpoint) {
    return core.rocketmq().consumerGroup() + "-push-" + endpoint;
  }

  private static PushNaming naming(PushConfig config, PushConfig.Endpoint endpoint, Naming ofPage) {
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
