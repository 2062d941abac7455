package org.traceetl.server.ozhera.delta;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.LongSupplier;
import org.traceetl.server.ozhera.delta.series.AnswerSums;
import org.traceetl.server.ozhera.delta.series.DeltaText;
import org.traceetl.server.ozhera.delta.series.Deltas;

/**
 * The windows that a scraper has not received, taken at one moment. They count as undelivered until
 * {@link DeltaPages#settle} reports that all bytes were written.
 */
public final class Answer {
  /**
   * The part of one queue.
   *
   * @param queue the queue since its last take-over
   * @param to number of the last window in this part
   */
  record Part(QueueDeltas queue, long to, List<Deltas> deltas) {}

  private final ScraperSession scraper;
  private final List<Part> parts;
  private final DeltaText text;
  private final long takenNanos;
  private final long deadlineNanos;
  private final LongSupplier nanoClock;

  /** Size of the page, once it is written. */
  private volatile long bytes;

  /** Set by the fold thread when the last bytes may be written. */
  private boolean committed;

  /**
   * @param scraper null for a reader that receives no windows
   * @param deadlineNanos when the reader gives up
   */
  Answer(
      ScraperSession scraper,
      List<Part> parts,
      DeltaText text,
      long takenNanos,
      long deadlineNanos,
      LongSupplier nanoClock) {
    this.scraper = scraper;
    this.parts = parts;
    this.text = text;
    this.takenNanos = takenNanos;
    this.deadlineNanos = deadlineNanos;
    this.nanoClock = nanoClock;
  }

  /**
   * Writes the page: Prometheus text 0.0.4, never empty. Thread-safe and repeatable.
   *
   * @throws UncheckedIOException if the stream fails or the scraper has given up
   */
  public void writeTo(OutputStream out) {
    var sums = new AnswerSums();
    for (Part part : parts) {
      part.deltas().forEach(sums::add);
    }
    bytes = text.write(sums, new UntilDeadline(out));
  }

  /** Fails after the deadline, so that a slow reader does not occupy a thread for longer. */
  private final class UntilDeadline extends FilterOutputStream {
    UntilDeadline(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      check();
      out.write(bytes, from, length);
    }

    @Override
    public void write(int b) throws IOException {
      check();
      out.write(b);
    }

    private void check() throws IOException {
      if (expired(nanoClock.getAsLong())) {
        throw new IOException("the scraper has given up");
      }
    }
  }

  ScraperSession scraper() {
    return scraper;
  }

  List<Part> parts() {
    return parts;
  }

  long takenNanos() {
    return takenNanos;
  }

  /** Returns the size of the page before compression. */
  long bytes() {
    return bytes;
  }

  boolean expired(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }

  boolean committed() {
    return committed;
  }

  void commit() {
    committed = true;
  }
}
