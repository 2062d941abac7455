package org.traceetl.server.features.remotewrite;

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
public final class RemoteWriteType implements FeatureType {
  /** Opens the transport to an endpoint. Simulations replace it. */
  @FunctionalInterface
  public interface Opener {
    /** Opens the transport. Does not wait for the receiver. */
    WriteTransport open(RemoteWriteConfig.Endpoint endpoint, Clocks clocks);
  }

  private static final class Section implements ConfigSection<RemoteWriteKeys, RemoteWriteConfig> {
    @Override
    public String prefix() {
      return "remote-write";
    }

    @Override
    public Class<RemoteWriteKeys> keys() {
      return RemoteWriteKeys.class;
    }

    @Override
    public Class<RemoteWriteConfig> type() {
      return RemoteWriteConfig.class;
    }

    @Override
    public RemoteWriteConfig config(RemoteWriteKeys keys, Profile profile) {
      return keys == null ? RemoteWriteConfig.defaults() : keys.toConfig();
    }

    @Override
    public void validate(RemoteWriteConfig own, MetricsConfig metrics) {
      check(
          own.endpoints().isEmpty() || metrics.queueLabel() == MetricsConfig.QueueLabel.ALWAYS,
          "trace-etl.metrics.queue-label",
          metrics.queueLabel().name().toLowerCase(Locale.ROOT),
          "must be always if trace-etl.remote-write.endpoints has an endpoint: otherwise two"
              + " queues may push series with the same labels");
    }

    @Override
    public void checkFiles(RemoteWriteConfig own) {
      own.endpoints().forEach(endpoint -> ClientTls.context(endpoint.tls()));
    }
  }

  private final Opener opener;

  /** Creates the feature with transport by HTTP. */
  public RemoteWriteType() {
    this(HttpTransport::new);
  }

  /** Creates the feature with another transport. */
  public RemoteWriteType(Opener opener) {
    this.opener = opener;
  }

  @Override
  public ConfigSection<RemoteWriteKeys, RemoteWriteConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    RemoteWriteConfig config = (RemoteWriteConfig) own;
    if (config.endpoints().isEmpty()) {
      return new RemoteWriteFeature(List.of(), null);
    }
    CoreConfig core = context.config();
    Naming ofProfile = context.profile().naming();
    Naming naming =
        ofProfile == null
            ? new SpanNaming(core.metrics(), core.series(), core.histogram())
            : ofProfile;
    List<PushEndpoint> endpoints = new ArrayList<>();
    for (RemoteWriteConfig.Endpoint endpoint : config.endpoints()) {
      endpoints.add(
          new PushEndpoint(
              endpoint,
              group(core, endpoint.name()),
              naming(config, endpoint, naming),
              opener.open(endpoint, context.clocks()),
              context.clocks()));
    }
    return new RemoteWriteFeature(
        endpoints,
        new RemoteWriteFollower(
            List.copyOf(endpoints),
            (queue, endpoint) -> context.journal().journals().replay(queue, group(core, endpoint)),
            context.clocks()));
  }

  private static String group(CoreConfig core, String endpoint) {
    return core.rocketmq().consumerGroup() + "-push-" + endpoint;
  }

  private static PushNaming naming(
      RemoteWriteConfig config, RemoteWriteConfig.Endpoint endpoint, Naming ofPage) {
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
