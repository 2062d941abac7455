package org.traceetl.perf.bench;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.log.RocketMqLogs;

/**
 * The server's pipeline in this JVM, on topics of a RocketMQ: the server without its web port and
 * its indexes.
 */
final class PipelineOnTopic implements AutoCloseable {
  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final LogJournals journals;
  private final SpanPipeline pipeline;

  PipelineOnTopic(
      RocketMqConfig config,
      String journalTopic,
      WindowConfig windows,
      Aggregation aggregation,
      List<WindowFollower> followers,
      SpanPipelineMetrics listener)
      throws IOException {
    JournalConfig journal = JournalConfig.defaults();
    RocketMqLogs logs =
        new RocketMqLogs(config, journalTopic, Duration.ofSeconds(3), Clocks.SYSTEM);
    logs.start();
    journals =
        new LogJournals(
            logs,
            config.topic(),
            config.consumerGroup(),
            aggregation::newImage,
            new JournalTiming(
                Clocks.SYSTEM, new SecureRandom(), journal.lease(), journal.snapshotInterval()),
            new JournalCounters());
    pipeline =
        new SpanPipeline(
            config,
            SpanConsumer.rocketMq(config, Clocks.SYSTEM),
            journal.lease(),
            windows,
            aggregation,
            journals,
            followers,
            Clocks.SYSTEM,
            listener);
  }

  void start() {
    pipeline.start();
  }

  int series() {
    return pipeline.queues().stream().mapToInt(queue -> queue.series()).sum();
  }

  void drain() {
    pipeline.drain(DRAIN);
  }

  @Override
  public void close() {
    drain();
    journals.close();
  }
}
