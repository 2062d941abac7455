package org.traceetl.server.journal.format;

import java.util.Collection;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.OpenPane;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;

/**
 * The format of a queue's open panes in a snapshot, in the types of {@link RecordWriter}. Base is
 * that of the {@link SnapshotFormat}.
 *
 * <p>The first part has what the next owner needs, whatever its schema:
 *
 * <pre>
 *   octet     flags; 1: closed is known, 2: completeness is known, 4: the last window had panes
 *   if it is known: signed  closed by an owner, milliseconds since 1970
 *   if it is known: {@link CompletenessFormat}, relative to 1970
 * </pre>
 *
 * <p>The second part:
 *
 * <pre>
 *   octet     1: closed is known, else 0
 *   if it is known: signed  base - closed, milliseconds
 *   unsigned  panes n, at most 64, n times:
 *     signed    base - end, milliseconds; ends ascend
 *     unsigned  rows n, n times in the order of their series:
 *       unsigned  series - series of the row before - 1; the snapshot has it
 *       sparse    counts
 *       {@link NativeFormat}
 *       unsigned  sum of durations, milliseconds; nanoseconds below
 * </pre>
 */
final class OpenPanesFormat {
  private static final int CLOSED = 1;
  private static final int COMPLETE = 2;
  private static final int HAS_PANES = 4;
  private static final int FLAGS = CLOSED | COMPLETE | HAS_PANES;
  private static final int MIN_PANE_BYTES = 2;

  /** Of series, native histogram and both parts of the sum. */
  private static final int MIN_ROW_BYTES = 4;

  private OpenPanesFormat() {}

  /** Writes what the next owner needs. */
  static void writeTimes(QueueImage image, RecordWriter out) {
    boolean isClosed = image.closedMillis() != SealedWindow.UNKNOWN_CLOSED;
    boolean isComplete = !image.completeness().isEmpty();
    out.octet(
        (isClosed ? CLOSED : 0) | (isComplete ? COMPLETE : 0) | (image.hasPanes() ? HAS_PANES : 0));
    if (isClosed) {
      out.signed(image.closedMillis());
    }
    if (isComplete) {
      CompletenessFormat.write(image.completeness(), 0, out);
    }
  }

  static void readTimes(RecordReader in, QueueImage image) throws MalformedRecordException {
    int flags = (int) in.upTo(FLAGS, "flags of open panes");
    long closedMillis = (flags & CLOSED) == 0 ? SealedWindow.UNKNOWN_CLOSED : time(in, in.signed());
    WindowCompleteness completeness =
        (flags & COMPLETE) == 0 ? WindowCompleteness.NONE : CompletenessFormat.read(in, 0);
    image.restore(completeness, closedMillis, (flags & HAS_PANES) != 0);
  }

  private static long time(RecordReader in, long millis) throws MalformedRecordException {
    if (!PanesFormat.isTime(millis)) {
      throw in.malformed("has open panes at " + millis);
    }
    return millis;
  }

  /** Writes the open panes of an image that keeps them. */
  static void write(QueueImage image, long baseMillis, RecordWriter out) {
    OpenPanes open = image.openPanes();
    boolean isClosed = open.closedMillis() != SealedWindow.UNKNOWN_CLOSED;
    out.octet(isClosed ? CLOSED : 0);
    if (isClosed) {
      out.signed(baseMillis - open.closedMillis());
    }
    Collection<OpenPane> panes = open.panes();
    out.unsigned(panes.size());
    for (OpenPane pane : panes) {
      out.signed(baseMillis - pane.endMillis());
      writeRows(pane, image.stride(), out);
    }
  }

  private static void writeRows(OpenPane pane, int stride, RecordWriter out) {
    int[] rows = pane.rows();
    out.unsigned(rows.length);
    int before = -1;
    for (int row : rows) {
      out.unsigned(pane.series(row) - before - 1L);
      out.sparse(pane.counts(), row * stride, stride);
      NativeFormat.write(pane.natives(), row, out);
      out.unsigned(pane.sumMillis(row));
      out.unsigned(pane.sumNanos(row));
      before = pane.series(row);
    }
  }

  /**
   * Reads open panes.
   *
   * @param image has the snapshot's series; if it keeps no open panes, they are skipped
   */
  static void read(RecordReader in, long baseMillis, QueueImage image)
      throws MalformedRecordException {
    OpenPanes open = image.openPanes() == null ? new OpenPanes(image.stride()) : image.openPanes();
    open.panesKnown(image.hasPanes());
    if (in.upTo(CLOSED, "flags of open panes") == CLOSED) {
      open.close(time(in, baseMillis - in.signed()));
    }
    int panes = (int) in.upTo(OpenPanes.MAX_PANES, "open panes");
    long before = Long.MIN_VALUE;
    for (int i = 0; i < panes; i++) {
      long endMillis = time(in, baseMillis - in.signed());
      if (endMillis <= before) {
        throw in.malformed("has open panes out of their order");
      }
      readRows(in, open.open(endMillis), image);
      image.counted(endMillis);
      before = endMillis;
    }
  }

  private static void readRows(RecordReader in, OpenPane pane, QueueImage image)
      throws MalformedRecordException {
    int stride = image.stride();
    int size = in.count(RecordWriter.sparseBytes(stride) + MIN_ROW_BYTES, "rows of a pane");
    int before = -1;
    for (int i = 0; i < size; i++) {
      int series = before + 1 + (int) in.upTo(image.slots() - 2L - before, "step of a pane's rows");
      if (image.definition(series) == null) {
        throw in.malformed("has a row of series " + series + " in a pane");
      }
      int row = pane.open(series);
      in.sparse(pane.counts(), row * stride, stride, "counts of a pane");
      NativeFormat.read(in, pane.natives(), row);
      long sumMillis = in.amount("sum of durations of a pane");
      pane.addDuration(row, sumMillis, in.upTo(SnapshotFormat.NANOS_PER_MILLI - 1L, "nanoseconds"));
      before = series;
    }
  }
}
