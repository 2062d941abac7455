package org.traceetl.server.ozhera.delta;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What a scraper has not been given yet, taken at one moment. It stays on the books until {@link
 * DeltaPages#settle} hears that all of it was written.
 */
public final class Answer {
  /**
   * What is given of a queue.
   *
   * @param queue as it was taken over for this time
   * @param to its windows up to there are in it
   */
  record Part(QueueDeltas queue, long to, List<Deltas> deltas) {}

  private final Scraper scraper;
  private final List<Part> parts;
  private final DeltaText text;
  private final long takenNanos;
  private final long deadlineNanos;
  private final LongSupplier nanoClock;

  /** Of the page, once it is written. */
  private volatile long bytes;

  /** Set by the fold thread when its last bytes may be written. */
  private boolean committed;

  /**
   * @param scraper null for whoever looks
   * @param deadlineNanos from then on nobody waits for it any more
   */
  Answer(
      Scraper scraper,
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
   * Writes the page: Prometheus text 0.0.4, never empty. On any thread, more than once if need be.
   *
   * @throws UncheckedIOException as the stream does; and once the scraper has given up
   */
  public void writeTo(OutputStream out) {
    var sums = new AnswerSums();
    for (Part part : parts) {
      part.deltas().forEach(sums::add);
    }
    bytes = text.write(sums, new UntilDeadline(out));
  }

  /** Nobody reads what is written later: whoever reads slowly does not keep a thread for longer. */
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

  Scraper scraper() {
    return scraper;
  }

  List<Part> parts() {
    return parts;
  }

  long takenNanos() {
    return takenNanos;
  }

  /** Of the page, before compression. */
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
