package org.traceetl.server.features.push;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.common.Clocks;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Sends samples of one program run to an endpoint, with the transport, retries and labels of pushed
 * series. A request is repeated with growing pauses until it has a final answer. For one thread at
 * a time.
 */
public final class RemoteWriter implements AutoCloseable {
  /** If no request has a final answer in this time, the writer gives up. */
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final PushEndpoint endpoint;
  private final Clocks clocks;
  private final SampleWriter writer;
  private final String shown;
  private final int stride;

  /** Number of calls of {@link #flush}. */
  private long flushes;

  /** Number of answers. Guarded by this object's monitor. */
  private long answers;

  /**
   * Opens an endpoint. Does not wait for it.
   *
   * @param config has the labels of all series
   * @param to gets the samples by Remote Write
   * @throws org.traceetl.common.ConfigException if a certificate cannot be read
   */
  public RemoteWriter(PushConfig config, PushConfig.Endpoint to, Naming naming, Clocks clocks) {
    this.clocks = clocks;
    shown = PushEndpoint.shown(to.url());
    stride = naming.stride();
    endpoint =
        new PushEndpoint(
            to.name(),
            to,
            "",
            PushType.naming(config, to, naming),
            new HttpTransport(to, clocks),
            clocks);
    writer = endpoint.open(null, this::answered);
    endpoint.shards().forEach(shard -> shard.thread().start());
  }

  private synchronized void answered() {
    answers++;
    notifyAll();
  }

  /**
   * Adds a cumulative sample, and waits for room.
   *
   * @param series its number is that of no other series that has not ended
   * @param startMillis since when the series counts, milliseconds since 1970
   * @param counts spans by bucket, not cumulative over buckets, then the size if sizes are kept
   * @param sumMillis sum of durations in whole milliseconds
   * @param sumNanos the rest of the sum, below a millisecond
   * @param natives native buckets in the only row
   * @throws IOException if no request had a final answer for long
   */
  public void sample(
      SeriesDefinition series,
      long startMillis,
      long atMillis,
      long[] counts,
      long sumMillis,
      int sumNanos,
      NativeTotals natives)
      throws IOException, InterruptedException {
    await(false);
    writer.sample(
        series, startMillis, atMillis, counts, 0, stride, sumMillis, sumNanos, natives, 0, null);
  }

  /**
   * Waits until all samples have final answers.
   *
   * @throws IOException if no request had a final answer for long
   */
  public void flush() throws IOException, InterruptedException {
    writer.end(++flushes);
    await(true);
  }

  private boolean isReady(boolean forAll) {
    return forAll ? writer.answered() == flushes : writer.hasRoom();
  }

  private void await(boolean forAll) throws IOException, InterruptedException {
    long sinceNanos = clocks.nanos();
    long before = -1;
    while (!isReady(forAll)) {
      writer.flush();
      synchronized (this) {
        if (answers != before) {
          before = answers;
          sinceNanos = clocks.nanos();
        }
        long leftNanos = PATIENCE_NANOS - (clocks.nanos() - sinceNanos);
        if (leftNanos <= 0) {
          throw new IOException(
              shown
                  + " has accepted no samples for "
                  + TimeUnit.NANOSECONDS.toMinutes(PATIENCE_NANOS)
                  + " min; repeat the command to continue");
        }
        if (!isReady(forAll)) {
          TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
        }
      }
    }
  }

  /** Returns the number of samples that were written. */
  public long written() {
    return endpoint.telemetry().samples();
  }

  /** Returns the number of samples that were refused, by reason. */
  public Map<String, Long> refused() {
    return endpoint.telemetry().refused();
  }

  @Override
  public void close() {
    writer.close();
    endpoint.close();
  }
}
