package org.traceetl.server.features.push;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Makes requests of the samples of one queue. A request has samples of one record and one shard; it
 * ends with the record, or before a sample that would exceed the maximum. So the requests are a
 * function of the calls and the configuration.
 */
final class QueueSamples implements SampleWriter {
  private static final int INITIAL_SERIES = 16;

  private final QueueId queue;
  private final PushNaming naming;
  private final List<ShardSender> shards;
  private final int maxSamples;
  private final Runnable progress;

  // Confined to the thread of the calls.
  /** By series number; null for a series without samples. */
  private PushedSeries[] series = new PushedSeries[INITIAL_SERIES];

  /** By shard: the request that is not complete; null for none. */
  private final WriteRequest[] open;

  private PushedRecord record = new PushedRecord();

  /** Ended records that are not known to be answered, in order. Guarded by itself. */
  private final ArrayDeque<PushedRecord> records = new ArrayDeque<>();

  private volatile long answered = JournalLog.NONE;
  private volatile boolean closed;

  /**
   * @param maxSamples maximum of samples in a request; a series with more has a request for itself
   * @param progress called after an answer
   */
  QueueSamples(
      QueueId queue,
      PushNaming naming,
      List<ShardSender> shards,
      int maxSamples,
      Runnable progress) {
    this.queue = queue;
    this.naming = naming;
    this.shards = shards;
    this.maxSamples = maxSamples;
    this.progress = progress;
    open = new WriteRequest[shards.size()];
  }

  @Override
  public boolean hasRoom() {
    for (ShardSender shard : shards) {
      if (!shard.hasRoom()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void sample(
      SeriesDefinition definition,
      long startMillis,
      long atMillis,
      long[] counts,
      int offset,
      int stride,
      long sumMillis,
      int sumNanos,
      NativeTotals natives,
      int nativeRow,
      SampleExemplar exemplar) {
    if (closed) {
      return;
    }
    if (stride != naming.stride()) {
      throw new IllegalArgumentException(
          "sample of queue "
              + queue
              + " has "
              + stride
              + " buckets: must have "
              + naming.stride()
              + ", as configured in trace-etl.histogram.bounds-millis");
    }
    PushedSeries of = series(definition);
    requestFor(of)
        .add(
            of,
            startMillis,
            atMillis,
            counts,
            offset,
            sumMillis,
            sumNanos,
            natives,
            nativeRow,
            exemplar);
  }

  @Override
  public void stale(SeriesDefinition definition, long atMillis) {
    if (closed) {
      return;
    }
    PushedSeries of = series(definition);
    requestFor(of).addStale(of, atMillis);
    series[definition.series()] = null;
  }

  /** Returns the labels of a series, which are made once. */
  private PushedSeries series(SeriesDefinition definition) {
    int number = definition.series();
    if (number >= series.length) {
      series = Arrays.copyOf(series, Math.max(number + 1, series.length + series.length / 2));
    }
    PushedSeries known = series[number];
    // A number is reused, and a replay has another object of the same series.
    if (known == null || (known.definition != definition && !known.definition.equals(definition))) {
      known = naming.series(queue, definition, shards.size());
      series[number] = known;
    }
    return known;
  }

  private WriteRequest requestFor(PushedSeries of) {
    WriteRequest request = open[of.shard];
    if (request != null
        && request.samples() + naming.samples(of.familyBits) > maxSamples
        && request.size() > 0) {
      pass(of.shard);
      request = null;
    }
    if (request == null) {
      request = new WriteRequest(naming);
      open[of.shard] = request;
    }
    return request;
  }

  private void pass(int shard) {
    WriteRequest request = open[shard];
    open[shard] = null;
    // Series without a family on pages have no samples.
    if (request.samples() > 0) {
      synchronized (records) {
        record.unanswered++;
      }
      request.complete(this, record);
      shards.get(shard).add(request);
    }
  }

  @Override
  public void end(long offset) {
    if (closed) {
      return;
    }
    for (int shard = 0; shard < open.length; shard++) {
      if (open[shard] != null) {
        pass(shard);
      }
    }
    synchronized (records) {
      record.offset = offset;
      records.add(record);
      settle();
    }
    record = new PushedRecord();
  }

  /** Reports the final answer to a request. */
  void answered(PushedRecord of) {
    synchronized (records) {
      of.unanswered--;
      settle();
    }
    progress.run();
  }

  /** Reports a request without an answer after {@link #close}. */
  void dropped() {
    progress.run();
  }

  private void settle() {
    while (!records.isEmpty() && records.peek().unanswered == 0) {
      answered = records.poll().offset;
    }
  }

  @Override
  public long answered() {
    return answered;
  }

  @Override
  public void close() {
    closed = true;
    shards.forEach(ShardSender::wake);
  }

  boolean isClosed() {
    return closed;
  }
}
