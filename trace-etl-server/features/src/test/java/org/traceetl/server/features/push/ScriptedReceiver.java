package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.traceetl.server.features.push.RecordedSamples.Sample;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** An endpoint that answers when a test says so, and stores samples by Prometheus' rules. */
final class ScriptedReceiver implements Receiver {
  private static final int MAX_SAMPLES = 50;
  private static final int MAX_REQUESTS = 2;

  /** Stored samples, in the order of their arrival. Survives crashes of servers. */
  static final class Store {
    final List<Sample> samples = new ArrayList<>();
    private final Map<SeriesDefinition, Sample> newest = new HashMap<>();
    int repeated;

    void add(Sample sample) {
      Sample before = newest.get(sample.series());
      if (before == null || sample.atMillis() > before.atMillis()) {
        newest.put(sample.series(), sample);
        samples.add(sample);
      } else {
        // Refused if it is not the newest; then nothing may be lost.
        repeated++;
        assertThat(samples).contains(sample);
      }
    }
  }

  /**
   * A request.
   *
   * @param offset of the record that ends with it; NONE if none does
   */
  private record Request(long offset, List<Sample> samples) {}

  private final Store store;
  private final boolean isDelta;
  private final LongSupplier mark;
  private Writer writer;

  /**
   * @param mark returns the offset up to which the journal has a mark
   */
  ScriptedReceiver(Store store, boolean isDelta, LongSupplier mark) {
    this.store = store;
    this.isDelta = isDelta;
    this.mark = mark;
  }

  @Override
  public boolean isDelta() {
    return isDelta;
  }

  @Override
  public String name() {
    return "mimir";
  }

  @Override
  public SampleWriter open(QueueId queue, Runnable progress) {
    assertThat(writer == null || writer.closed).isTrue();
    writer = new Writer();
    return writer;
  }

  /** Stores the samples of the next request, and answers it; returns whether there is one. */
  boolean answer() {
    boolean any = writer != null && !writer.closed && !writer.requests.isEmpty();
    if (any) {
      loseAnswer();
      Request answered = writer.requests.remove();
      writer.answered = Math.max(writer.answered, answered.offset());
    }
    return any;
  }

  /** Stores the samples of the next request. Its answer is lost, so that it is repeated. */
  void loseAnswer() {
    if (writer != null && !writer.closed && !writer.requests.isEmpty()) {
      writer.requests.element().samples().forEach(store::add);
    }
  }

  int requests() {
    return writer == null ? 0 : writer.requests.size();
  }

  @Override
  public void start() {}

  @Override
  public boolean alive() {
    return true;
  }

  @Override
  public void close() {}

  private final class Writer implements SampleWriter {
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private RecordedSamples next = new RecordedSamples();
    private long answered = JournalLog.NONE;
    private long ended = JournalLog.NONE;
    private boolean closed;

    @Override
    public boolean hasRoom() {
      return requests.size() < MAX_REQUESTS;
    }

    @Override
    public void sample(
        SeriesDefinition series,
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
      if (isDelta && ended != JournalLog.NONE) {
        // Else a crash could repeat more than this record.
        assertThat(mark.getAsLong()).isEqualTo(ended);
      }
      next.sample(
          series,
          startMillis,
          atMillis,
          counts,
          offset,
          stride,
          sumMillis,
          sumNanos,
          natives,
          nativeRow,
          exemplar);
      if (next.samples.size() == MAX_SAMPLES) {
        cut(JournalLog.NONE);
      }
    }

    @Override
    public void stale(SeriesDefinition series, long atMillis) {
      next.stale(series, atMillis);
    }

    @Override
    public void end(long offset) {
      ended = offset;
      if (next.samples.isEmpty() && requests.isEmpty()) {
        answered = offset;
      } else {
        cut(offset);
      }
    }

    private void cut(long offset) {
      requests.add(new Request(offset, next.samples));
      next = new RecordedSamples();
    }

    @Override
    public void flush() {
      // Each request is passed on at once.
    }

    @Override
    public long answered() {
      return answered;
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
