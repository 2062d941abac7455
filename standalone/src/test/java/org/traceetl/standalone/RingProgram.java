package org.traceetl.standalone;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * An application whose environment configures its tracing. {@code expected} sends {@link
 * Expected#series} and ends. {@code endless FILE} creates spans until it is killed, and counts
 * ended ones for each thread in a file that survives it.
 */
final class RingProgram {
  static final int THREADS = 2;
  private static final int SPANS_AT_ONCE = 4;
  private static final long PAUSE_NANOS = 1_000_000;

  private RingProgram() {}

  public static void main(String... arguments) throws Exception {
    OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    if (arguments[0].equals("expected")) {
      try (OtlpSpans spans = OtlpSpans.of(sdk.getSdkTracerProvider())) {
        spans.sendExpected();
      }
      return;
    }
    MappedByteBuffer ended = map(Path.of(arguments[1]));
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      new Thread(() -> makeSpans(sdk.getTracer("endless"), ended, thread)).start();
    }
  }

  private static MappedByteBuffer map(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer mapped = channel.map(MapMode.READ_WRITE, 0, (long) THREADS * Long.BYTES);
      mapped.order(ByteOrder.LITTLE_ENDIAN);
      return mapped;
    }
  }

  private static void makeSpans(Tracer tracer, MappedByteBuffer ended, int thread) {
    for (long count = 1; true; count++) {
      tracer.spanBuilder("work").setNoParent().setSpanKind(SpanKind.SERVER).startSpan().end();
      ended.putLong(thread * Long.BYTES, count);
      if (count % SPANS_AT_ONCE == 0) {
        // Limits the rate to what a busy machine reads.
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
