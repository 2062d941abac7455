package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.common.Clocks;

/**
 * Kills a process with tail keeping, repeatedly and at random times. Time passes by requests. Trace
 * n has an ordinary span in one request and a failed one in a later request.
 */
final class TailKeepingKillTest {
  private static final int KILLS = 4;
  private static final int WAIT = 1_000;

  /** Requests between the two spans of a trace. */
  private static final int APART = 20;

  @TempDir private Path directory;

  @Test
  void tracesWhoseSpansAllWaitedAreKeptWhole() throws Exception {
    Set<Integer> appended = new HashSet<>();
    Random random = new Random();
    for (int kill = 0; kill < KILLS; kill++) {
      writeAndKill(kill * 1_000_000, 100 + random.nextInt(1_000), appended);
    }
    Host host = new Host(directory, 9_000_000);
    host.keeping.drain();
    host.work();
    Set<String> forwarded = new HashSet<>();
    for (ForwardBuffer.Read<ByteArrayOutputStream> read = host.read();
        read != null;
        read = host.read()) {
      ExportTraceServiceRequest.parseFrom(read.body().toByteArray())
          .getResourceSpansList()
          .forEach(resource ->
              resource
                  .getScopeSpansList()
                  .forEach(scope ->
                      scope.getSpansList().forEach(span -> forwarded.add(span.getName()))));
    }

    assertThat(appended).hasSizeGreaterThan(100);
    for (int trace : appended) {
      assertThat(forwarded).contains(trace + " ordinary", trace + " failed");
    }
    assertThat(forwarded).noneMatch(name -> name.endsWith("other"));
    assertThat(host.metrics.dropped("a", Drop.BUFFER_FULL)).isZero();
  }

  private void writeAndKill(int first, int lines, Set<Integer> appended) throws Exception {
    Process writer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Writer.class.getName(),
                directory.toString(),
                Integer.toString(first))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int left = lines;
    try (BufferedReader output = writer.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        // The last line may be torn.
        if (line.endsWith(".")) {
          appended.add(Integer.valueOf(line.substring(0, line.length() - 1)));
        }
        if (--left == 0) {
          writer.toHandle().destroyForcibly();
        }
      }
    }
    assertThat(writer.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(left).as("lines before the writer ended by itself").isNotPositive();
  }

  /** Both buffers, and a clock that is set. */
  private static final class Host {
    private final ForwardMetrics metrics = new ForwardMetrics(List.of("a"));
    private final AtomicLong millis;
    private final ForwardBuffer buffer;
    private final TailKeeping keeping;

    Host(Path directory, long startMillis) throws IOException {
      millis = new AtomicLong(startMillis);
      Clocks clocks = new Clocks(System::nanoTime, () -> Instant.ofEpochMilli(millis.get()));
      buffer = new TestBuffer(directory, 1 << 30, Disk.SYSTEM, "a").buffer;
      keeping =
          new TailKeeping(
              new Keep(true, WAIT, 0, true, 0, 1 << 30),
              directory.resolve("waiting"),
              Disk.SYSTEM,
              (body, length, at, format) -> {
                try {
                  buffer.append(body, length, at, format);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
                return true;
              },
              Map.of(OtlpFormat.PROTOBUF, new OtlpProtobufDecoder()),
              metrics,
              clocks,
              7);
    }

    void work() throws IOException {
      boolean worked;
      do {
        worked = keeping.step(true);
      } while (worked);
    }

    void append(String name, int trace, boolean isFailed) throws IOException {
      byte[] id = ByteBuffer.allocate(16).putLong(1).putLong(trace + 1L).array();
      Span.Builder span =
          Span.newBuilder()
              .setTraceId(ByteString.copyFrom(id))
              .setSpanId(ByteString.copyFrom(id, 0, 8))
              .setName(trace + " " + name)
              .setStartTimeUnixNano(1);
      if (isFailed) {
        span.getStatusBuilder().setCode(StatusCode.STATUS_CODE_ERROR);
      }
      ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
      request.addResourceSpansBuilder().addScopeSpansBuilder().addSpans(span);
      byte[] bytes = request.build().toByteArray();
      keeping.append(bytes, bytes.length, millis.incrementAndGet(), OtlpFormat.PROTOBUF);
    }

    ForwardBuffer.Read<ByteArrayOutputStream> read() throws IOException {
      return buffer.cursor("a").read(_ -> new ByteArrayOutputStream());
    }
  }

  /** Appends traces and decides on them, until it is killed. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] args) throws IOException {
      Host host = new Host(Path.of(args[0]), Integer.parseInt(args[1]));
      for (int i = Integer.parseInt(args[1]); ; i++) {
        host.append("ordinary", i, false);
        host.append("other", -i - 1, false);
        if (i - APART >= Integer.parseInt(args[1])) {
          host.append("failed", i - APART, true);
          System.out.println(i - APART + ".");
        }
        host.work();
        if (i % 50 == 0) {
          host.keeping.tidy();
        }
      }
    }
  }
}
