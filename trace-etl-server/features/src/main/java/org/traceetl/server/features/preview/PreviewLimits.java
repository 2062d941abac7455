package org.traceetl.server.features.preview;

import java.time.Duration;
import org.traceetl.server.consume.retained.Patience;
import org.traceetl.server.consume.retained.RetainedMessages;

/**
 * The limits of a preview of rules.
 *
 * @param reads of messages
 * @param patience how long to wait for name servers and brokers before messages are read
 * @param keys maximum number of stored hashes and values for each of both rules, each about 60
 *     bytes
 */
public record PreviewLimits(RetainedMessages.Limits reads, Duration patience, int keys) {
  /** Those of a command, which has its own process. */
  public static final PreviewLimits COMMAND =
      new PreviewLimits(RetainedMessages.Limits.NONE, Patience.OF_COMMAND, 2_500_000);

  /** Those of a server, which counts spans at the same time. */
  public static final PreviewLimits SERVER =
      new PreviewLimits(
          new RetainedMessages.Limits(200_000, 20_000_000, Duration.ofSeconds(30)),
          Duration.ZERO,
          250_000);
}
