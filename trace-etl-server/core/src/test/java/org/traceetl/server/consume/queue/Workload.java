package org.traceetl.server.consume.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;

/** Generates batches like a fleet's: 12 attributes a span, one of them a dimension. */
final class Workload {
  private static final int FIRST_SEQUENCE = 1 << 20;

  private final List<byte[]> messages = new ArrayList<>();
  private final int spans;
  private int sequence = FIRST_SEQUENCE;

  /**
   * @param applications one batch of each
   * @param names span names of an application, each with identifiers that are removed; with 5
   *     routes, 5 times as many series
   * @param spansPerBatch spans in a batch
   */
  Workload(int applications, int names, int spansPerBatch) {
    Random random = new Random(1);
    for (int application = 0; application < applications; application++) {
      BatchMessage batch =
          new BatchMessage("application-" + application).resource("host.name", "host-17");
      for (int i = 0; i < spansPerBatch; i++) {
        batch.span(
            "GET /resource/r" + random.nextInt(names) + "/" + random.nextInt(1_000),
            BatchMessage.SERVER,
            BatchMessage.UNSET,
            random.nextLong(900_000_000),
            0);
        batch.attribute("http.route", "/route/" + random.nextInt(5));
        for (int a = 1; a < 12; a++) {
          batch.attribute("some.attribute." + a, "value-" + random.nextInt(20));
        }
      }
      messages.add(batch.message(application, 1, FIRST_SEQUENCE));
    }
    spans = applications * spansPerBatch;
  }

  SeriesConfig series() {
    return new SeriesConfig(
        List.of(new Dimension("http.route", null, null)),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  /** Sends every batch once, each time under a new name. */
  void sendTo(QueueAggregator aggregator, long nowMillis) {
    sequence++;
    for (int i = 0; i < messages.size(); i++) { // an iterator would be counted as allocated
      byte[] message = messages.get(i);
      rename(message, sequence);
      aggregator.accept(message, nowMillis);
    }
  }

  /**
   * Replaces a message's sequence in place. It follows version (2 bytes), agent (18), epoch (2) and
   * its own header; between 2^20 and 2^27 it has 4 bytes.
   */
  private static void rename(byte[] message, int sequence) {
    int zigZag = sequence << 1;
    for (int i = 0; i < 4; i++) {
      message[23 + i] = (byte) (zigZag >>> (7 * i) & 0x7F | (i < 3 ? 0x80 : 0));
    }
  }

  int spans() {
    return spans;
  }
}
