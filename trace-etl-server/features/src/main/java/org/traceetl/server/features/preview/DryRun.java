package org.traceetl.server.features.preview;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.Messages;

/**
 * Reads messages from the broker and prints how many series the configuration would create from
 * them. Joins no consumer group and stores no offset.
 */
public final class DryRun {
  private static final int MAX_KEYS = 5_000_000;

  private final RocketMqConfig rocketmq;
  private final SeriesConfig series;
  private final MappedProfile profile;
  private final Clocks clocks;
  private final PrintWriter out;
  private final PrintWriter progress;

  /**
   * @param profile null if the messages need no mapping
   */
  public DryRun(
      RocketMqConfig rocketmq,
      SeriesConfig series,
      MappedProfile profile,
      Clocks clocks,
      PrintWriter out,
      PrintWriter progress) {
    this.rocketmq = rocketmq;
    this.series = series;
    this.profile = profile;
    this.clocks = clocks;
    this.out = out;
    this.progress = progress;
  }

  /**
   * Reads the newest messages.
   *
   * @param messages maximum number, divided equally among the queues
   * @param since maximum age of a message; null for any
   * @throws IOException if the topic cannot be read
   */
  public void run(long messages, Duration since) throws IOException, InterruptedException {
    Preview preview = new Preview(series, Messages.of(rocketmq.messages()), profile, MAX_KEYS);
    new RetainedMessages(rocketmq, clocks, progress).read(messages, since, preview);
    new PreviewTable(preview, out).print();
  }
}
