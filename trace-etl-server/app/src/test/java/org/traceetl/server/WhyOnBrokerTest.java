package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.features.why.Question;
import org.traceetl.server.features.why.Shop;
import org.traceetl.server.features.why.Why;
import org.traceetl.server.features.why.WhyAnswer;
import org.traceetl.server.features.why.WhyConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.StoredDocuments;
import org.traceetl.testkit.TestRocketMq;

/**
 * What failed spans on a real broker have in common. {@code -Dtraceetl.why.traces=3600000} writes
 * as many as 10 minutes of 10,000 spans a second, and prints the time from question to answer.
 */
class WhyOnBrokerTest {
  private static final String TOPIC = "why";
  private static final int QUEUES = 4;
  private static final int TRACES = Integer.getInteger("traceetl.why.traces", 15_000);
  private static final int CHUNK = 15_000;

  @TempDir private Path home;

  @Test
  void theGuiltyHostIsFound() throws Exception {
    try (TestRocketMq rocketMq = new TestRocketMq(home)) {
      rocketMq.createTopic(TOPIC, QUEUES);
      Shop shop = Shop.failing(1);
      Instant begin = Instant.now();
      long bytes = 0;
      int sent = 0;
      RocketMqConfig config =
          new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, null);
      // As agents do, this producer does not compress.
      try (RocketMqLogs logs =
          new RocketMqLogs(config, TOPIC, Duration.ofSeconds(10), Clocks.SYSTEM)) {
        logs.start();
        List<JournalLog> queues = new ArrayList<>();
        for (QueueId queue : logs.queues()) {
          queues.add(logs.open(queue));
        }
        for (int traces = 0; traces < TRACES; traces += CHUNK) {
          for (byte[] message : shop.messages(CHUNK)) {
            queues.get(sent++ % QUEUES).append(message);
            bytes += message.length;
          }
        }
      }
      AtomicLong readNanos = new AtomicLong();
      Why why =
          new Why(
              WhyConfig.defaults(),
              application ->
                  new SpanNames(new NamePatterns(List.of()), true, 1_000, () -> LearntNames.NONE),
              1_000,
              (from, until, limits, reader) -> {
                long beginNanos = System.nanoTime();
                RetainedMessages.Extent extent =
                    new RetainedMessages(
                            config, Clocks.SYSTEM, new PrintWriter(Writer.nullWriter()))
                        .read(from, until, limits, reader);
                readNanos.set(System.nanoTime() - beginNanos);
                return extent;
              },
              StoredDocuments.NONE,
              Clocks.SYSTEM);
      long beginNanos = System.nanoTime();

      WhyAnswer answer =
          why.answer(
              new Question(
                  Shop.NAME,
                  null,
                  null,
                  true,
                  0,
                  begin.minus(Duration.ofMinutes(1)),
                  Instant.now().plusSeconds(60),
                  null));

      System.out.printf(
          "%d spans in %d messages of %.1f MB: %.2f s, of which %.2f s reading; complete: %b;"
              + " compared %d with %d traces%n",
          answer.spans(),
          answer.messages(),
          bytes / 1e6,
          (System.nanoTime() - beginNanos) / 1e9,
          readNanos.get() / 1e9,
          answer.complete(),
          answer.selectionTraces(),
          answer.baselineTraces());
      assertThat(answer.causes()).as("%s", answer).isNotEmpty();
      assertThat(answer.causes().getFirst().attributes())
          .containsExactly(new WhyAnswer.Attribute("host.name", "host-bad"));
      if (answer.complete()) {
        assertThat(answer.messages()).isEqualTo(sent);
      }
    }
  }
}
