package org.traceetl.server.features.remotewrite;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.window.QueueId;

/** An endpoint, whose shards send in parallel. */
final class PushEndpoint implements Receiver {
  private final String name;
  private final int maxSamples;
  private final PushNaming naming;
  private final WriteTransport transport;
  private final EndpointState state;
  private final List<ShardSender> shards = new ArrayList<>();

  /**
   * @param transport closed with the endpoint
   */
  PushEndpoint(
      RemoteWriteConfig.Endpoint config,
      PushNaming naming,
      WriteTransport transport,
      Clocks clocks) {
    name = config.name();
    maxSamples = config.maxSamplesPerRequest();
    this.naming = naming;
    this.transport = transport;
    state = new EndpointState(name, config.fixedProtocol(), clocks);
    for (int i = 0; i < config.shards(); i++) {
      shards.add(
          new ShardSender(
              "remote-write-" + name + "-" + i,
              state,
              config.isOtlp() ? new OtlpEncoder(naming) : new RemoteWriteEncoder(naming),
              transport,
              clocks));
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public SampleWriter open(QueueId queue, Runnable progress) {
    return new QueueSamples(queue, naming, List.copyOf(shards), maxSamples, progress);
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
    shards.forEach(shard -> shard.thread().start());
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
