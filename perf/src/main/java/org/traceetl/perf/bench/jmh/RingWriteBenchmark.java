package org.traceetl.perf.bench.jmh;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.internal.otlp.traces.LowAllocationTraceRequestMarshaler;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.exporter.RingSpanProcessor;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;

/**
 * Measures the application's cost of 512 ended spans of 8 attributes. Two variants write them into
 * a ring, by the span processor and from the SDK's span data. The third encodes an OTLP request by
 * the SDK's default exporter, without queue, compression and network. A quarter of the attributes'
 * values occur in one span only. Outside the measured time, the spans are created for each batch,
 * so that no string has a cached hash, and the ring is emptied.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class RingWriteBenchmark {
  private static final int SPANS = 512;
  private static final int DICTIONARY_BYTES = 256 << 10;
  private static final int TAIL = 128;
  private static final int HEAD = 384;

  private final List<ReadableSpan> spans = new ArrayList<>();
  private final List<SpanData> data = new ArrayList<>();
  private final LowAllocationTraceRequestMarshaler marshaler =
      new LowAllocationTraceRequestMarshaler();
  private final ByteArrayOutputStream request = new ByteArrayOutputStream(1 << 20);
  private SdkTracerProvider provider;
  private long made;
  private Path directory;
  private RingWriter writer;
  private RingSpanProcessor processor;
  private final List<Emptied> rings = new ArrayList<>();

  @Setup
  public void open() throws IOException {
    SpanProcessor collector =
        new SpanProcessor() {
          @Override
          public void onStart(Context parent, ReadWriteSpan span) {}

          @Override
          public boolean isStartRequired() {
            return false;
          }

          @Override
          public void onEnd(ReadableSpan span) {
            spans.add(span);
          }

          @Override
          public boolean isEndRequired() {
            return true;
          }
        };
    provider = SdkTracerProvider.builder().addSpanProcessor(collector).build();
    makeSpans();
    Path shared = Path.of("/dev/shm");
    directory =
        Files.isWritable(shared)
            ? Files.createTempDirectory(shared, "trace-etl-bench")
            : Files.createTempDirectory("trace-etl-bench");
    RingSize size = RingSize.of(1 << 20, DICTIONARY_BYTES);
    writer = RingWriter.create(directory, size, data.get(0).getResource().getAttributes());
    processor = RingSpanProcessor.builder().setDirectory(directory).setSize(size).build();
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        rings.add(new Emptied(file));
      }
    }
  }

  @Setup(Level.Invocation)
  public void prepare() {
    rings.forEach(Emptied::empty);
    request.reset();
    makeSpans();
  }

  private void makeSpans() {
    spans.clear();
    data.clear();
    Tracer tracer = provider.get("bench");
    for (int i = 0; i < SPANS; i++) {
      long id = made++ * 0x9E3779B97F4A7C15L;
      tracer
          .spanBuilder("GET /orders/{id}")
          .setSpanKind(SpanKind.SERVER)
          .setAttribute("http.request.method", "GET")
          .setAttribute("http.route", "/orders/{id}")
          .setAttribute("http.response.status_code", i % 50 == 0 ? 500 : 200)
          .setAttribute("url.path", "/orders/" + (id >>> 40))
          .setAttribute("url.scheme", "https")
          .setAttribute("server.address", "shop-" + i % 8 + ".example.com")
          .setAttribute("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101")
          .setAttribute("session.id", Long.toHexString(id))
          .startSpan()
          .end();
    }
    spans.forEach(span -> data.add(span.toSpanData()));
  }

  @TearDown
  public void close() throws IOException {
    provider.close();
    processor.shutdown();
    writer.close();
    List<Path> all;
    try (var files = Files.walk(directory)) {
      all = new ArrayList<>(files.toList());
    }
    Collections.reverse(all);
    for (Path path : all) {
      Files.delete(path);
    }
  }

  @Benchmark
  public void processor() {
    for (int i = 0; i < SPANS; i++) {
      processor.onEnd(spans.get(i));
    }
  }

  @Benchmark
  public boolean writer() {
    boolean written = true;
    for (int i = 0; i < SPANS; i++) {
      written &= writer.write(data.get(i));
    }
    if (!written) {
      throw new IllegalStateException("the ring is full");
    }
    return written;
  }

  @Benchmark
  public int otlp() throws IOException {
    List<SpanData> batch = new ArrayList<>(SPANS);
    for (int i = 0; i < SPANS; i++) {
      batch.add(spans.get(i).toSpanData());
    }
    marshaler.initialize(batch);
    marshaler.writeBinaryTo(request);
    marshaler.reset();
    return request.size();
  }

  /** A ring that is emptied after each batch. */
  private static final class Emptied {
    private final ByteBuffer file;
    private final int ring;
    private final byte[] zeros;

    Emptied(Path path) throws IOException {
      try (FileChannel channel =
          FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        ByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
        file = mapped.order(ByteOrder.LITTLE_ENDIAN);
      }
      zeros = new byte[(int) file.getLong(24)];
      ring = file.capacity() - zeros.length;
    }

    void empty() {
      long tail = file.getLong(TAIL);
      long head = file.getLong(HEAD);
      for (long at = head; at < tail; ) {
        int offset = (int) (at & zeros.length - 1);
        int count = (int) Math.min(tail - at, zeros.length - offset);
        file.put(ring + offset, zeros, 0, count);
        at += count;
      }
      file.putLong(HEAD, tail);
    }
  }
}
