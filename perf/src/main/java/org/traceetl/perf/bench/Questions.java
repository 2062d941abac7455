package org.traceetl.perf.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.features.why.Question;
import org.traceetl.server.features.why.Shop;
import org.traceetl.server.features.why.Why;
import org.traceetl.server.features.why.WhyAnswer;
import org.traceetl.server.features.why.WhyConfig;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.StoredDocuments;
import org.traceetl.testkit.EmbeddedRocketMq;

/**
 * Asks why spans of an application fail, again and again, with the server's defaults. A topic of
 * its own has the application's spans: as many as 10 minutes of 10,000 a second, as agents send
 * them by a demand.
 */
final class Questions {
  private static final String TOPIC = "why-spans";
  private static final int CHUNKS = 240;
  private static final int TRACES_OF_CHUNK = 15_000;
  private static final int MAX_NAME_BYTES = 1_000;

  private final RocketMqConfig config;
  private final Duration every;
  private final Instant begin = Instant.now();
  private final Why why;
  private final List<Double> seconds = new ArrayList<>();
  private int complete;
  private Thread asker;
  private volatile boolean ends;
  private Exception failure;

  /**
   * @param every the least time from a question to the next
   */
  Questions(EmbeddedRocketMq rocketMq, int queues, Duration every) throws Exception {
    this.every = every;
    config = new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, null);
    why =
        new Why(
            WhyConfig.defaults(),
            application ->
                new SpanNames(
                    new NamePatterns(List.of()), true, MAX_NAME_BYTES, () -> LearntNames.NONE),
            MAX_NAME_BYTES,
            (from, until, limits, reader) ->
                new RetainedMessages(config, Clocks.SYSTEM, new PrintWriter(Writer.nullWriter()))
                    .read(from, until, limits, reader),
            StoredDocuments.NONE,
            Clocks.SYSTEM);
    rocketMq.createTopic(TOPIC, queues);
    Shop shop = Shop.failing(1);
    int sent = 0;
    try (TopicWriter writer = new TopicWriter(rocketMq.namesrvAddress(), TOPIC, "why-load")) {
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (byte[] message : shop.messages(TRACES_OF_CHUNK)) {
          writer.send(sent++, message);
        }
      }
      writer.await();
    }
  }

  /** Asks on a thread of its own until {@link #end}. */
  void begin() {
    ends = false;
    asker = new Thread(this::ask, "trace-why");
    asker.start();
  }

  private void ask() {
    try {
      while (!ends) {
        long beginNanos = System.nanoTime();
        WhyAnswer answer =
            why.answer(
                new Question(
                    Shop.NAME, null, null, true, 0, begin, Instant.now().plusSeconds(60), null));
        if (answer.causes().isEmpty()) {
          throw new IOException("not answered: " + answer);
        }
        complete += answer.complete() ? 1 : 0;
        seconds.add((System.nanoTime() - beginNanos) / 1e9);
        Thread.sleep(every.minusNanos(System.nanoTime() - beginNanos));
      }
    } catch (InterruptedException e) {
      // The round ends.
    } catch (IOException | RuntimeException e) {
      // Some calls fail otherwise when they are interrupted.
      failure = ends ? null : e;
    }
  }

  /**
   * Stops asking; the last question gets no answer.
   *
   * @return answers so far, of all rounds
   */
  int end() throws Exception {
    ends = true;
    // Some calls of the client return as if they were not interrupted.
    do {
      asker.interrupt();
    } while (!asker.join(Duration.ofSeconds(1)));
    if (failure != null) {
      throw failure;
    }
    return seconds.size();
  }

  int answers() {
    return seconds.size();
  }

  /** Returns the share of answers for which all messages were read. */
  double completeShare() {
    return (double) complete / seconds.size();
  }

  double medianSeconds() {
    return Results.median(seconds, each -> each);
  }

  double maxSeconds() {
    return seconds.stream().mapToDouble(each -> each).max().orElse(Double.NaN);
  }
}
