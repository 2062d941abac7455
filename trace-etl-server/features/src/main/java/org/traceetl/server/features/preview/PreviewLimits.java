package org.traceetl.server.features.preview;

import java.time.Duration;

/**
 * The limits of a preview of rules.
 *
 * @param messages maximum number of messages to read
 * @param bytesPerSecond maximum rate of reads
 * @param within maximum time of reads; each queue has an equal part of it
 * @param keys maximum number of stored hashes and values for each of both rules, each about 60
 *     bytes
 */
public record PreviewLimits(long messages, long bytesPerSecond, Duration within, int keys) {
  /** Those of a command, which has its own process. */
  public static final PreviewLimits COMMAND =
      new PreviewLimits(Long.MAX_VALUE, Long.MAX_VALUE, Duration.ofDays(365), 2_500_000);

  /** Those of a server, which counts spans at the same time. */
  public static final PreviewLimits SERVER =
      new PreviewLimits(200_000, 20_000_000, Duration.ofSeconds(30), 250_000);
}
