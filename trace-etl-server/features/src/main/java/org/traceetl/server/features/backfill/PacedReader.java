package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.common.Clocks;
import org.traceetl.server.consume.retained.Patience;

/**
 * Reads messages at a bounded rate, one request at a time, pauses while servers lag, and prints its
 * progress. For one thread at a time.
 */
final class PacedReader {
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double BYTES_PER_MEGABYTE = 1e6;

  private final Clocks clocks;
  private final long bytesPerSecond;
  private final long all;
  private final Lag lag;
  private final Patience patience;
  private final PrintWriter out;

  private final long startNanos;

  /** When the next request may begin. */
  private long nextNanos;

  /** When the lag of servers is looked at next. */
  private long lagNanos;

  private long saidNanos;
  private long messages;
  private long bytes;

  /** How far servers are behind. */
  @FunctionalInterface
  interface Lag {
    /** Returns the messages that servers should have counted by now; 0 if they keep up. */
    long messages() throws IOException, InterruptedException;
  }

  /**
   * @param all number of messages to read at most
   * @param patience repeats requests without an answer
   * @param out receives a line of progress every few seconds
   */
  PacedReader(
      Clocks clocks, long bytesPerSecond, long all, Lag lag, Patience patience, PrintWriter out) {
    this.clocks = clocks;
    this.bytesPerSecond = bytesPerSecond;
    this.all = all;
    this.lag = lag;
    this.patience = patience;
    this.out = out;
    startNanos = clocks.nanos();
    nextNanos = startNanos;
    lagNanos = startNanos;
    saidNanos = startNanos;
  }

  /**
   * Reads messages.
   *
   * @throws IOException if the broker refuses the request, or does not answer for long
   */
  List<MessageExt> read(SpanTopic.Messages log, long from)
      throws IOException, InterruptedException {
    long waitNanos = nextNanos - clocks.nanos();
    if (waitNanos > 0) {
      clocks.pause().nanos(waitNanos);
    }
    awaitServers();
    List<MessageExt> read = patience.await(() -> log.read(from));
    long more = read.stream().mapToLong(message -> message.getBody().length).sum();
    messages += read.size();
    bytes += more;
    // What was not used of the rate before is lost, so there are no bursts.
    nextNanos =
        Math.max(nextNanos, clocks.nanos()) + (long) (more * NANOS_PER_SECOND / bytesPerSecond);
    say();
    return read;
  }

  /** Pauses while servers lag, so that they have the brokers and the processors to themselves. */
  private void awaitServers() throws InterruptedException {
    while (clocks.nanos() - lagNanos >= 0) {
      long messages = lagging();
      lagNanos = clocks.nanos() + LAG_NANOS;
      if (messages == 0) {
        return;
      }
      out.printf(
          Locale.ROOT,
          "Pausing for %d s: servers have not committed %d older messages%n",
          TimeUnit.NANOSECONDS.toSeconds(LAG_NANOS),
          messages);
      clocks.pause().nanos(LAG_NANOS);
    }
  }

  private long lagging() throws InterruptedException {
    try {
      return lag.messages();
    } catch (IOException e) {
      // The next read shows whether the broker is away.
      return 0;
    }
  }

  private void say() {
    long nowNanos = clocks.nanos();
    if (nowNanos - saidNanos < PROGRESS_NANOS) {
      return;
    }
    saidNanos = nowNanos;
    double seconds = (nowNanos - startNanos) / NANOS_PER_SECOND;
    Duration left =
        Duration.ofSeconds(
            Math.round(seconds * Math.max(0, all - messages) / Math.max(1, messages)));
    out.printf(
        Locale.ROOT,
        "%d of at most %d messages, %.1f MB/s, at most %d:%02d:%02d left%n",
        messages,
        all,
        bytes / seconds / BYTES_PER_MEGABYTE,
        left.toHours(),
        left.toMinutesPart(),
        left.toSecondsPart());
  }

  /** Returns the number of messages that were read. */
  long messages() {
    return messages;
  }

  /** Returns the bytes of their bodies. */
  long bytes() {
    return bytes;
  }
}
