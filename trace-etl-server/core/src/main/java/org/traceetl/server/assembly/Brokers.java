package org.traceetl.server.assembly;

import java.time.Duration;
import org.traceetl.common.Clocks;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.log.RocketMqLogs;

/** A server's access to the brokers. Simulations replace it. */
public interface Brokers {
  /** RocketMQ's brokers, by its client. */
  Brokers ROCKETMQ = new RocketMqBrokers();

  /** Returns the connector of the workers' consumers of the span topic. */
  SpanConsumer.Connector consumers(RocketMqConfig config, Clocks clocks);

  /**
   * Returns the logs of a topic, not started.
   *
   * @param config of the spans
   * @param topic of the logs
   * @param timeout after which the outcome of a call is unknown
   * @throws TlsRefused if TLS cannot be set up as configured
   */
  BrokerLogs logs(RocketMqConfig config, String topic, Duration timeout, Clocks clocks);

  /** RocketMQ's brokers. */
  final class RocketMqBrokers implements Brokers {
    private RocketMqBrokers() {}

    @Override
    public SpanConsumer.Connector consumers(RocketMqConfig config, Clocks clocks) {
      return SpanConsumer.rocketMq(config, clocks);
    }

    @Override
    public BrokerLogs logs(RocketMqConfig config, String topic, Duration timeout, Clocks clocks) {
      return new RocketMqLogs(config, topic, timeout, clocks);
    }
  }
}
