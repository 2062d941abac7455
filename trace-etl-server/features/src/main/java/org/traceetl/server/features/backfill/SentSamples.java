package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The samples that a receiver gets. Until when it has all of them is marked in the directory from
 * time to time, so that a backfill that continues does not send them again. After a refused sample
 * the mark stays, so that a repeated backfill sends it again. For one thread at a time.
 */
final class SentSamples {
  private static final long MARK_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final OutputDirectory directory;
  private final SampleReceiver receiver;
  private final LongSupplier nanoClock;

  /** The receiver has answered samples until then, milliseconds since 1970. */
  private long sentMillis;

  private long markedNanos;

  SentSamples(OutputDirectory directory, SampleReceiver receiver, LongSupplier nanoClock) {
    this.directory = directory;
    this.receiver = receiver;
    this.nanoClock = nanoClock;
    sentMillis = directory.sentMillis(receiver.id());
    markedNanos = nanoClock.getAsLong();
  }

  /** Sends a sample that was not sent before. */
  void sample(
      SeriesDefinition series, long startMillis, long atMillis, Totals totals, NativeTotals natives)
      throws IOException, InterruptedException {
    if (atMillis > sentMillis) {
      receiver.sample(
          series,
          startMillis,
          atMillis,
          totals.counts(),
          totals.sumMillis(),
          totals.sumNanos(),
          natives);
    }
  }

  /** Ends the samples until a time, milliseconds since 1970. */
  void endPane(long endMillis) throws IOException, InterruptedException {
    if (nanoClock.getAsLong() - markedNanos >= MARK_NANOS) {
      finish(endMillis);
    }
  }

  /** Waits for all answers, and marks the time if the receiver has all samples. */
  void finish(long endMillis) throws IOException, InterruptedException {
    if (endMillis > sentMillis) {
      receiver.flush();
      if (!receiver.lacksSamples()) {
        directory.sent(receiver.id(), endMillis);
      }
      sentMillis = endMillis;
    }
    markedNanos = nanoClock.getAsLong();
  }
}
