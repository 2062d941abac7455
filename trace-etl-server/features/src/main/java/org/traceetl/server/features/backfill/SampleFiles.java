package org.traceetl.server.features.backfill;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.LineBuffer;
import org.traceetl.server.expose.SpanNaming;

/**
 * Writes samples with their times as OpenMetrics text, one file for each range of {@link
 * #BLOCK_MILLIS}, which {@code promtool} makes one block of. Samples of a file are in the order of
 * time, not of families: promtool needs the former, and a file then needs no memory. Files that
 * exist are left as they are. For one thread at a time; failures are {@link UncheckedIOException}s.
 */
final class SampleFiles extends LineBuffer implements Closeable {
  /** Length of the blocks that promtool makes by default; they begin at its multiples. */
  static final long BLOCK_MILLIS = Duration.ofHours(2).toMillis();

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH-mm'Z.om'").withZone(ZoneOffset.UTC);

  private static final byte[] END_OF_LABELS = "} ".getBytes(US_ASCII);
  private static final byte[] END = "# EOF\n".getBytes(US_ASCII);
  private static final int MILLIS_PER_SECOND = 1_000;
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int MILLI_DIGITS = 3;
  private static final int NANO_DIGITS = 9;

  /** Digits of nanoseconds in a millisecond. */
  private static final int NANO_OF_MILLI_DIGITS = 6;

  private final OutputDirectory directory;
  private final SpanNaming naming;

  /** Number of the range of the open file; negative before the first. */
  private long block = -1;

  /** Null before the first file. */
  private String name;

  /** Null if the file exists already. */
  private OutputStream out;

  private long samples;
  private int files;

  SampleFiles(OutputDirectory directory, SpanNaming naming) {
    this.directory = directory;
    this.naming = naming;
  }

  /**
   * Writes the samples of a series in all its families.
   *
   * @param atMillis milliseconds since 1970; at or after the call before
   */
  void sample(SeriesKey series, long atMillis, Totals totals) {
    if (atMillis / BLOCK_MILLIS != block) {
      finish();
      begin(atMillis / BLOCK_MILLIS);
    }
    for (Family family : naming.families()) {
      if ((series.families() & family.bit()) == 0) {
        continue;
      }
      if (family.isHistogram()) {
        histogram(family, series.labels(), atMillis, totals);
      } else if (family.isSum()) {
        line(family.total, series.labels(), END_OF_LABELS);
        sum(family, totals);
        endLine(atMillis);
      } else {
        long value =
            family == naming.size()
                ? totals.count(naming.buckets())
                : totals.spans(naming.buckets());
        line(family.total, series.labels(), END_OF_LABELS);
        write(value);
        endLine(atMillis);
      }
    }
  }

  private void histogram(Family family, byte[] labels, long atMillis, Totals totals) {
    long spans = 0;
    for (int bucket = 0; bucket < family.buckets(); bucket++) {
      spans += totals.count(bucket);
      line(family.bucket, labels, family.le[bucket]);
      write(spans);
      endLine(atMillis);
    }
    line(family.count, labels, END_OF_LABELS);
    write(spans);
    endLine(atMillis);
    line(family.sum, labels, END_OF_LABELS);
    sum(family, totals);
    endLine(atMillis);
  }

  private void sum(Family family, Totals totals) {
    if (family.seconds()) {
      long nanos = totals.sumMillis() % MILLIS_PER_SECOND * NANOS_PER_MILLI + totals.sumNanos();
      write(totals.sumMillis() / MILLIS_PER_SECOND, nanos, NANO_DIGITS);
    } else {
      write(totals.sumMillis(), totals.sumNanos(), NANO_OF_MILLI_DIGITS);
    }
  }

  /** Begins a line. */
  private void line(byte[] nameOfSample, byte[] labels, byte[] end) {
    ensure(nameOfSample.length + labels.length + end.length + 2 * MAX_NUMBER_BYTES + 2);
    write(nameOfSample);
    write(labels);
    write(end);
    samples++;
  }

  private void endLine(long atMillis) {
    write(' ');
    write(atMillis / MILLIS_PER_SECOND, atMillis % MILLIS_PER_SECOND, MILLI_DIGITS);
    write('\n');
  }

  private void begin(long next) {
    block = next;
    name = NAME.format(Instant.ofEpochMilli(next * BLOCK_MILLIS));
    files++;
    try {
      out = directory.has(name) ? null : directory.create(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Format format = naming.hasUtf8Names() ? Format.OPENMETRICS_UTF8 : Format.OPENMETRICS;
    for (Family family : naming.families()) {
      byte[] header = family.header(format, 0);
      ensure(header.length);
      write(header);
    }
  }

  /** Ends the open file, if there is one. */
  void finish() {
    if (name == null) {
      return;
    }
    ensure(END.length);
    write(END);
    flush();
    if (out != null) {
      try {
        directory.finish(name, out);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    out = null;
    name = null;
  }

  /** Closes a file that is not finished. */
  @Override
  public void close() throws IOException {
    if (out != null) {
      out.close();
    }
  }

  @Override
  protected void moveOut(byte[] bytes, int length) {
    if (out == null) {
      return;
    }
    try {
      out.write(bytes, 0, length);
    } catch (IOException e) {
      throw new UncheckedIOException(directory.failed(e));
    }
  }

  /** Returns the number of samples, including those in files that existed. */
  long samples() {
    return samples;
  }

  /** Returns the number of files, including those that existed. */
  int files() {
    return files;
  }
}
