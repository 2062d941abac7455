package org.traceetl.perf.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.perf.bench.load.FullWindows;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.SnapshotFormat;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.journal.format.WindowInvariants;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Encodes the journal's records of one queue; time per record. The records are a window that
 * touches all series, the first window, which also creates them, and a snapshot. One variant
 * restores an owner from a snapshot. The sizes of the records are printed first.
 */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Measurement(iterations = 3, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class JournalBenchmark extends StepBenchmark {
  private static final QueueId QUEUE = new QueueId("broker", 0);

  @Param({"1000", "20000", "100000"})
  private int series;

  private final RecordWriter writer = new RecordWriter();
  private Aggregation aggregation;
  private SealedWindow first;
  private SealedWindow window;
  private byte[] firstBytes;
  private byte[] windowBytes;
  private QueueImage image;
  private byte[] imageBytes;

  @Setup(Level.Trial)
  public void setUp() {
    aggregation = Aggregation.builder(() -> 1).build();
    image = aggregation.newImage();
    FullWindows windows = new FullWindows(QUEUE, series, image);
    first = windows.next();
    window = windows.next();
    image.apply(first);
    image.apply(window);
    firstBytes = encoded(first);
    windowBytes = encoded(window);
    writer.clear();
    SnapshotFormat.encode(image, writer);
    imageBytes = writer.toByteArray();
    System.out.printf(
        "# %,d series: first window %,d bytes, a later one %,d, snapshot %,d%n",
        series, firstBytes.length, windowBytes.length, imageBytes.length);
  }

  private byte[] encoded(SealedWindow sealed) {
    writer.clear();
    WindowFormat.encode(sealed, writer);
    return writer.toByteArray();
  }

  @Benchmark
  public int encodeWindow() {
    return encode(window);
  }

  @Benchmark
  public int encodeFirstWindow() {
    return encode(first);
  }

  /** The assertions before a window is encoded. */
  @Benchmark
  public String assertWindow() {
    return WindowInvariants.violated(window);
  }

  private int encode(SealedWindow sealed) {
    writer.clear();
    WindowFormat.encode(sealed, writer);
    return writer.size();
  }

  @Benchmark
  public SealedWindow decodeWindow() throws MalformedRecordException {
    return WindowFormat.decode(windowBytes, 0, windowBytes.length, QUEUE);
  }

  @Benchmark
  public SealedWindow decodeFirstWindow() throws MalformedRecordException {
    return WindowFormat.decode(firstBytes, 0, firstBytes.length, QUEUE);
  }

  @Benchmark
  public int encodeSnapshot() {
    writer.clear();
    SnapshotFormat.encode(image, writer);
    return writer.size();
  }

  @Benchmark
  public QueueImage decodeSnapshot() throws MalformedRecordException {
    QueueImage decoded = aggregation.newImage();
    SnapshotFormat.decode(imageBytes, 0, imageBytes.length, decoded);
    return decoded;
  }

  @Benchmark
  public QueueAggregator newOwner() {
    return aggregation.newAggregator(
        QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
  }
}
