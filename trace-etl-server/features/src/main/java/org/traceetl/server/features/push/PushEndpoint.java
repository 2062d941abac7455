package org.traceetl.server.features.push;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.server.window.QueueId;

/** The series of spans, or of edges, that an endpoint gets. Shards send in parallel. */
final class PushEndpoint implements Receiver {
  private static final Logger log = LoggerFactory.getLogger(PushEndpoint.class);

  private final String name;
  private final PushConfig.Endpoint config;
  private final String group;
  private final PushNaming naming;
  private final WriteTransport transport;
  private final EndpointState state;
  private final List<ShardSender> shards = new ArrayList<>();

  /**
   * @param name in metrics, logs and names of threads
   * @param group consumer group whose marks say how far the endpoint has got
   * @param transport closed with the endpoint
   */
  PushEndpoint(
      String name,
      PushConfig.Endpoint config,
      String group,
      PushNaming naming,
      WriteTransport transport,
      Clocks clocks) {
    this.name = name;
    this.config = config;
    this.group = group;
    this.naming = naming;
    this.transport = transport;
    state = new EndpointState(name, config.fixedProtocol(), clocks);
    for (int i = 0; i < config.shards(); i++) {
      shards.add(
          new ShardSender(
              "push-" + name + "-" + i,
              state,
              config.isOtlp()
                  ? new OtlpEncoder(naming, config.isDelta())
                  : new RemoteWriteEncoder(naming),
              transport,
              clocks));
    }
  }

  @Override
  public String name() {
    return name;
  }

  String group() {
    return group;
  }

  @Override
  public boolean isDelta() {
    return config.isDelta();
  }

  @Override
  public SampleWriter open(QueueId queue, Runnable progress) {
    return new QueueSamples(
        queue, naming, List.copyOf(shards), config.maxSamplesPerRequest(), progress);
  }

  /** Returns the shards, whose steps a test does itself. */
  List<ShardSender> shards() {
    return shards;
  }

  /** Returns the counts so far. */
  EndpointTelemetry telemetry() {
    return state.telemetry();
  }

  @Override
  public void start() {
    log.info(
        "Push endpoint {} gets the series of this server's queues. A queue continues at the mark of"
            + " the consumer group; without a mark it begins at the end of its journal: receiver={}"
            + " protocol={} temporality={} shards={} group={}",
        name,
        shown(config.url()),
        config.protocol(),
        config.temporality(),
        config.shards(),
        group);
    shards.forEach(shard -> shard.thread().start());
  }

  /** Returns the begin of the address: the rest may have a secret, also the path. */
  static String shown(URI url) {
    String port = url.getPort() < 0 ? "" : ":" + url.getPort();
    return url.getScheme() + "://" + url.getHost() + port;
  }

  @Override
  public boolean alive() {
    return shards.stream().allMatch(shard -> shard.thread().alive());
  }

  /** Ends after the requests in flight, or after a short time. */
  @Override
  public void close() {
    shards.forEach(shard -> shard.thread().finish());
    shards.forEach(shard -> shard.thread().close());
    transport.close();
  }
}
