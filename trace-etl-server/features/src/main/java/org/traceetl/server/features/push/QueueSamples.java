package org.traceetl.server.features.push;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Makes requests of the samples of one queue. A request has samples of one shard. It ends with a
 * record; while the shard has enough requests of the queue, it takes samples of later records too,
 * up to the maximum. So a receiver that is slow or was away gets few large requests.
 */
final class QueueSamples implements SampleWriter {
  private static final int INITIAL_SERIES = 16;

  /** Requests of a shard without a final answer: the one in flight, and the next one. */
  private static final int MAX_REQUESTS = 2;

  private final QueueId queue;
  private final PushNaming naming;
  private final List<ShardSender> shards;
  private final int maxSamples;
  private final Runnable progress;

  // Confined to the thread of the calls.
  /** By series number; null for a series without samples. */
  private PushedSeries[] series = new PushedSeries[INITIAL_SERIES];

  /** By shard: the request that takes samples; null for none. */
  private final WriteRequest[] open;

  /** By shard: requests that were passed on and have no final answer. Written by all threads. */
  private final AtomicIntegerArray unanswered;

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
    unanswered = new AtomicIntegerArray(shards.size());
  }

  @Override
  public boolean hasRoom() {
    for (int shard = 0; shard < open.length; shard++) {
      if (!hasRoom(shard)) {
        return false;
      }
    }
    return true;
  }

  private boolean hasRoom(int shard) {
    int requests = unanswered.get(shard);
    return requests < MAX_REQUESTS
        || requests == MAX_REQUESTS
            && (open[shard] == null || open[shard].samples() <= maxSamples / 2);
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
              + " numbers of a series: must have "
              + naming.stride()
              + ", as configured in trace-etl.histogram and trace-etl.metrics.size");
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
      request = new WriteRequest(naming, this);
      open[of.shard] = request;
    }
    if (request.begin(record)) {
      synchronized (records) {
        record.unanswered++;
      }
    }
    return request;
  }

  private void pass(int shard) {
    WriteRequest request = open[shard];
    open[shard] = null;
    // Series without a family on pages have no samples.
    if (request.samples() > 0) {
      unanswered.incrementAndGet(shard);
      shards.get(shard).add(request);
    } else {
      settle(request);
    }
  }

  @Override
  public void flush() {
    for (int shard = 0; shard < open.length; shard++) {
      if (open[shard] != null && unanswered.get(shard) < MAX_REQUESTS) {
        pass(shard);
      }
    }
  }

  @Override
  public void end(long offset) {
    if (closed) {
      return;
    }
    synchronized (records) {
      record.offset = offset;
      records.add(record);
      settle();
    }
    record = new PushedRecord();
    flush();
  }

  /** Reports the final answer to a request. */
  void answered(WriteRequest request) {
    settle(request);
    unanswered.decrementAndGet(request.series(0).shard);
    progress.run();
  }

  /** Reports a request without an answer after {@link #close}. */
  void dropped() {
    progress.run();
  }

  private void settle(WriteRequest request) {
    synchronized (records) {
      request.records().forEach(of -> of.unanswered--);
      settle();
    }
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
