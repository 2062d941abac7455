package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.common.Clocks;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;

/**
 * The topic of the spans. Simulations replace it.
 *
 * @param logs of the topic, not started; the backfill closes them
 * @param open returns the messages of a queue; does not wait
 */
public record SpanTopic(BrokerLogs logs, Function<QueueId, Messages> open) {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** The messages of a queue. For one thread at a time. */
  @FunctionalInterface
  public interface Messages {
    /** Returns messages in order from an offset on; empty if there are none. */
    List<MessageExt> read(long from) throws IOException, InterruptedException;
  }

  /**
   * Returns the topic at RocketMQ's brokers.
   *
   * @throws TlsRefused if TLS cannot be set up as configured
   */
  public static SpanTopic of(RocketMqConfig config, Clocks clocks) {
    RocketMqLogs logs = new RocketMqLogs(config, config.topic(), TIMEOUT, clocks);
    return new SpanTopic(logs, queue -> logs.open(config.topic(), queue)::messages);
  }
}
