package org.traceetl.server.consume.retained;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.traceetl.common.BackOff;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.NoAnswerException;

/**
 * Repeats calls that name servers or brokers do not answer, or for which a broker has no time, with
 * growing pauses, for a bounded time each. For one thread at a time.
 */
public final class Patience {
  /** That of a command, which nothing repeats. */
  public static final Duration OF_COMMAND = Duration.ofMinutes(1);

  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final long withinNanos;
  private final Clocks clocks;
  private final PrintWriter out;
  private final BackOff backOff;

  /** A call that can be repeated. */
  @FunctionalInterface
  public interface Call<T> {
    T make() throws IOException, InterruptedException;
  }

  /**
   * @param within how long calls are repeated; 0 for not at all
   * @param out receives a line with each failure
   */
  public Patience(Duration within, Clocks clocks, PrintWriter out) {
    withinNanos = within.toNanos();
    this.clocks = clocks;
    this.out = out;
    // Without variation: commands do not fail all at once.
    backOff = new BackOff(FIRST_NANOS, MAX_NANOS, () -> 0);
  }

  /**
   * Makes a call until it is answered. Its time begins with the first failure.
   *
   * @throws IOException if the call fails with an answer, or its time is over
   */
  public <T> T await(Call<T> call) throws IOException, InterruptedException {
    long firstFailureNanos = 0;
    for (int failures = 1; ; failures++) {
      try {
        return call.make();
      } catch (IOException e) {
        if (failures == 1) {
          // A call may have read for long before.
          firstFailureNanos = clocks.nanos();
        }
        long leftNanos = withinNanos - (clocks.nanos() - firstFailureNanos);
        if (!isUnanswered(e) || leftNanos <= 0) {
          throw e;
        }
        out.printf(
            Locale.ROOT,
            "%s; trying again for up to %d s%n",
            e.getMessage(),
            Math.max(1, TimeUnit.NANOSECONDS.toSeconds(leftNanos)));
        clocks.pause().nanos(Math.min(leftNanos, backOff.nanos(failures)));
      }
    }
  }

  private static boolean isUnanswered(IOException e) {
    return e instanceof NoAnswerException
        || e.getCause() instanceof RemotingException
        || e.getCause() instanceof MQBrokerException refusal
            && (refusal.getResponseCode() == ResponseCode.SYSTEM_BUSY
                || refusal.getResponseCode() == ResponseCode.SERVICE_NOT_AVAILABLE);
  }
}
