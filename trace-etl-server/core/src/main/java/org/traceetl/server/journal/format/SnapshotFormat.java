package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.ReceivedSpans;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The format of a queue's state, in the types of {@link RecordWriter}:
 *
 * <pre>
 *   octet     version
 *   in version 6: octet  the version whose format the rest has, 1 to 5
 *   signed    to
 *   unsigned  agents n, n times, most recent first:
 *     fixed     ID, two of them
 *     signed    last activity of the first one, milliseconds
 *     unsigned  that of the one before - its own, for other agents
 *     {@link BatchesFormat}: remembered batches
 *   from version 4 on: the first part of {@link OpenPanesFormat}
 *   from version 5 on: unsigned  length, its bytes: {@link EdgeChangeFormat} of all open half-edges;
 *     0 before the queue's first message
 *   fixed     schema
 *   unsigned  stride
 *   signed    base, milliseconds
 *   unsigned  series n, n times in the order of their numbers:
 *     {@link DefinitionFormat}, beginning at base
 *     sparse    counts
 *     from version 2 on: {@link NativeFormat}
 *     unsigned  sum of durations, milliseconds; nanoseconds below
 *     signed    base - touched, milliseconds
 *     unsigned  carry
 *     from version 4 on: signed  created - since when it counts, milliseconds
 *   from version 3 on: unsigned  applications n, n times, the quietest first:
 *     text      application
 *     unsigned  spans received
 *     signed    base - created, milliseconds; base - touched
 *   from version 4 on: the second part of {@link OpenPanesFormat}
 * </pre>
 *
 * <p>The version is that of {@link WindowFormat}, 1 without native histograms. It is 3 if the image
 * keeps received spans by application, 4 if it may be written with open panes, and 5 if it knows
 * the open half-edges. Readers that do not keep them skip them; readers that do need no series of
 * the same schema. Version 6 has series of variances, and only it.
 */
public final class SnapshotFormat {
  /** The version with received spans by application. */
  static final int RECEIVED_VERSION = 3;

  /** The version with open panes. */
  static final int OPEN_PANES_VERSION = 4;

  /** The version with open half-edges. */
  static final int EDGES_VERSION = 5;

  /** The version with series of variances, the latest one. */
  static final int VARIANCES_VERSION = 6;

  static final int NANOS_PER_MILLI = 1_000_000;
  private static final int MIN_RECEIVED_BYTES = 4;

  // For messages

  private static final String COUNTS = "counts";
  private static final String SUM = "sum of durations";
  private static final String NANOSECONDS = "nanoseconds";
  private static final String CARRY = "carry";

  private SnapshotFormat() {}

  /** Writes an image at the writer's position. */
  public static void encode(QueueImage image, RecordWriter out) {
    int version = version(image);
    boolean hasNative = version >= WindowFormat.NATIVE_VERSION;
    if (hasVariances(image)) {
      out.octet(VARIANCES_VERSION);
    }
    out.octet(version);
    out.signed(image.to());
    writeHistory(image.history(), out);
    if (version >= OPEN_PANES_VERSION) {
      OpenPanesFormat.writeTimes(image, out);
    }
    if (version >= EDGES_VERSION) {
      writeEdges(image.edges().all(), out);
    }
    out.fixed(image.schema());
    out.unsigned(image.stride());
    long baseMillis = 0;
    int size = 0;
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        baseMillis = Math.max(baseMillis, image.touchedMillis(series));
        size++;
      }
    }
    out.signed(baseMillis);
    out.unsigned(size);
    DefinitionFormat definitions = new DefinitionFormat(baseMillis);
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) == null) {
        continue;
      }
      definitions.write(image.definition(series), out);
      int row = image.row(series);
      out.sparse(image.counts(), row * image.stride(), image.stride());
      if (hasNative) {
        NativeFormat.write(image.natives(), row, out);
      }
      out.unsigned(image.sumMillis(series));
      out.unsigned(image.sumNanos(series));
      out.signed(baseMillis - image.touchedMillis(series));
      out.unsigned(image.carry(series));
      if (version >= OPEN_PANES_VERSION) {
        out.signed(image.definition(series).createdMillis() - image.startMillis(series));
      }
    }
    if (version >= RECEIVED_VERSION) {
      writeReceived(image.received(), baseMillis, out);
    }
    if (version >= OPEN_PANES_VERSION) {
      OpenPanesFormat.write(image, baseMillis, out);
    }
  }

  private static boolean hasVariances(QueueImage image) {
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition != null && definition.isOfVariance()) {
        return true;
      }
    }
    return false;
  }

  private static int version(QueueImage image) {
    if (image.knowsEdges()) {
      return EDGES_VERSION;
    }
    if (image.writesPanes()) {
      return OPEN_PANES_VERSION;
    }
    if (image.received() != null) {
      return RECEIVED_VERSION;
    }
    return image.hasNative() ? WindowFormat.NATIVE_VERSION : WindowFormat.CLASSIC_VERSION;
  }

  /**
   * Reads an image.
   *
   * @param image an empty one. If its schema differs, it gets only the position, the history, the
   *     open half-edges, and the definitions of series. If half-edges contradict themselves, they
   *     are unknown. Invalid after an exception
   * @throws UnknownVersionException if the version is later than the known ones
   * @throws MalformedRecordException if {@code bytes[offset, offset + length)} are not exactly one
   */
  public static void decode(byte[] bytes, int offset, int length, QueueImage image)
      throws MalformedRecordException {
    RecordReader in = new RecordReader(bytes, offset, length);
    int version = WindowFormat.version(in, VARIANCES_VERSION);
    image.to(in.signed());
    readHistory(in, image.history());
    if (version >= OPEN_PANES_VERSION) {
      OpenPanesFormat.readTimes(in, image);
    }
    if (version >= EDGES_VERSION) {
      readEdges(in, image);
    } else {
      image.forgetEdges();
    }
    long schema = in.fixed();
    long stride = in.upTo(WindowFormat.MAX_STRIDE, "stride");
    if (schema != image.schema() || stride != image.stride()) {
      image.restoreForeign(readDefinitions(in, version, (int) stride));
      return;
    }
    long baseMillis = in.signed();
    int size = in.count(minSeriesBytes(image.stride()), "series");
    DefinitionFormat definitions = new DefinitionFormat(baseMillis);
    for (int i = 0; i < size; i++) {
      SeriesDefinition definition = definitions.read(in);
      int row = image.create(definition);
      in.sparse(image.counts(), row * image.stride(), image.stride(), COUNTS);
      if (version >= WindowFormat.NATIVE_VERSION) {
        NativeFormat.read(in, image.natives(), row);
      }
      long sumMillis = in.amount(SUM);
      int sumNanos = (int) in.upTo(NANOS_PER_MILLI - 1L, NANOSECONDS);
      image.restore(row, sumMillis, sumNanos, baseMillis - in.signed(), in.amount(CARRY));
      image.restoreStart(
          row, version >= OPEN_PANES_VERSION ? definition.createdMillis() - in.signed() : 0);
    }
    if (version >= RECEIVED_VERSION) {
      readReceived(in, baseMillis, image.received());
    }
    if (version >= OPEN_PANES_VERSION) {
      OpenPanesFormat.read(in, baseMillis, image);
    }
    in.end();
  }

  /** Reads series, and skips their counts. */
  private static List<SeriesDefinition> readDefinitions(RecordReader in, int version, int stride)
      throws MalformedRecordException {
    long baseMillis = in.signed();
    int size = in.count(minSeriesBytes(stride), "series");
    DefinitionFormat definitions = new DefinitionFormat(baseMillis);
    List<SeriesDefinition> all = new ArrayList<>();
    long[] counts = new long[stride];
    NativeTotals natives = new NativeTotals();
    for (int i = 0; i < size; i++) {
      all.add(definitions.read(in));
      in.sparse(counts, 0, stride, COUNTS);
      if (version >= WindowFormat.NATIVE_VERSION) {
        NativeFormat.read(in, natives, 0);
      }
      in.amount(SUM);
      in.upTo(NANOS_PER_MILLI - 1L, NANOSECONDS);
      in.signed();
      in.amount(CARRY);
      if (version >= OPEN_PANES_VERSION) {
        in.signed();
      }
    }
    return all;
  }

  private static int minSeriesBytes(int stride) {
    return DefinitionFormat.MIN_BYTES + RecordWriter.sparseBytes(stride) + 4;
  }

  private static void writeEdges(EdgeChange all, RecordWriter out) {
    // With texts of its own, so that a reader that skips it knows the numbers of the others.
    RecordWriter edges = new RecordWriter();
    if (!all.isNone()) {
      EdgeChangeFormat.write(all, edges);
    }
    out.unsigned(edges.size());
    out.bytes(edges);
  }

  private static void readEdges(RecordReader in, QueueImage image) throws MalformedRecordException {
    RecordReader edges = in.part(in.count(1, "bytes of half-edges"));
    if (image.edges() != null && edges.left() > 0) {
      image.restoreEdges(EdgeChangeFormat.read(edges));
    }
  }

  private static void writeReceived(ReceivedSpans received, long baseMillis, RecordWriter out) {
    if (received == null) {
      out.unsigned(0);
      return;
    }
    out.unsigned(received.size());
    received.forEach(one -> {
      out.text(one.application());
      out.unsigned(one.spans());
      out.signed(baseMillis - one.createdMillis());
      out.signed(baseMillis - one.touchedMillis());
    });
  }

  /**
   * @param received null to skip them
   */
  private static void readReceived(RecordReader in, long baseMillis, ReceivedSpans received)
      throws MalformedRecordException {
    int size = in.count(MIN_RECEIVED_BYTES, "applications");
    for (int i = 0; i < size; i++) {
      var one =
          new ReceivedSpans.Received(
              in.text("application"),
              in.amount("spans"),
              baseMillis - in.signed(),
              baseMillis - in.signed());
      if (received != null) {
        received.put(one);
      }
    }
  }

  private static void writeHistory(BatchHistory history, RecordWriter out) {
    int[] agents = history.lastHeardFirst();
    out.unsigned(agents.length);
    long before = 0;
    for (int i = 0; i < agents.length; i++) {
      AcceptedBatches batches = history.remembered(agents[i]);
      out.fixed(batches.agentHigh(0));
      out.fixed(batches.agentLow(0));
      long heardMillis = history.heardMillis(agents[i]);
      if (i == 0) {
        out.signed(heardMillis);
      } else {
        out.unsigned(before - heardMillis);
      }
      before = heardMillis;
      BatchesFormat.write(batches, 0, batches.size(), out);
    }
  }

  private static void readHistory(RecordReader in, BatchHistory history)
      throws MalformedRecordException {
    int agents = in.count(2 * Long.BYTES + 1 + BatchesFormat.MIN_BYTES, "agents");
    long before = 0;
    for (int i = 0; i < agents; i++) {
      long high = in.fixed();
      long low = in.fixed();
      long heardMillis = i == 0 ? in.signed() : before - in.unsigned();
      before = heardMillis;
      history.restore(high, low, heardMillis);
      BatchesFormat.read(in, high, low, history::restore);
    }
  }
}
