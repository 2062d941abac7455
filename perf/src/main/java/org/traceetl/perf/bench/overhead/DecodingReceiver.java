package org.traceetl.perf.bench.overhead;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.source.otlp.OtlpReceiver;
import org.traceetl.agent.source.ring.RingSource;
import org.traceetl.common.Clocks;

/**
 * The agent's sources without a pipeline. They decode, count and confirm spans, so that comparisons
 * of delivery exclude common costs. It is a process whose first line names its ports. It answers
 * {@code await N SECONDS} when N spans have arrived since its start, or after the timeout.
 */
final class DecodingReceiver implements Intake {
  private static final int MOST_BYTES_BEING_READ = 64 << 20;
  private static final int MOST_PAYLOADS = 1_024;
  private static final int MOST_REQUEST_BYTES = 16 << 20;
  private static final long LOOK_MILLIS = 10;

  private final ExecutorService decoding =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_PAYLOADS),
          task -> {
            Thread thread = new Thread(task, "pipeline");
            thread.setDaemon(true);
            return thread;
          });

  // Guarded by this, like rejected.
  private long spans;
  private long rejected;

  private DecodingReceiver() {}

  /**
   * Runs until its input ends.
   *
   * @param arguments the directory of rings
   */
  public static void main(String... arguments) throws Exception {
    // The agent's classes log to the standard output, where the measuring process reads answers.
    PrintStream answers = System.out;
    System.setOut(System.err);
    DecodingReceiver intake = new DecodingReceiver();
    OtlpConfig config = new OtlpConfig(true, "127.0.0.1", 0, 0, MOST_REQUEST_BYTES);
    RingConfig defaults = RingConfig.defaults();
    RingConfig ringConfig =
        new RingConfig(
            true,
            Path.of(arguments[0]),
            defaults.group(),
            defaults.maxRings(),
            defaults.maxBytes(),
            defaults.maxDictionaryBytes());
    try (OtlpReceiver otlp =
            new OtlpReceiver(
                config, MOST_BYTES_BEING_READ, intake, new AnsweredRequests(0), Clocks.SYSTEM);
        RingSource rings = new RingSource(ringConfig, intake, List.of(), 1 << 25, Clocks.SYSTEM)) {
      otlp.start();
      rings.start();
      while (!Files.isDirectory(ringConfig.directory())) {
        Thread.sleep(LOOK_MILLIS);
      }
      answers.println("grpc=" + otlp.grpcPort() + " http=" + otlp.httpPort());
      intake.answer(answers);
    }
  }

  private void answer(PrintStream answers) throws IOException, InterruptedException {
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    String request;
    while ((request = requests.readLine()) != null) {
      String[] words = request.split(" ");
      long wanted = words[0].equals("await") ? Long.parseLong(words[1]) : 0;
      long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(words[2]));
      synchronized (this) {
        long leftMillis = 1;
        while (spans < wanted && leftMillis > 0) {
          leftMillis = TimeUnit.NANOSECONDS.toMillis(limitNanos - System.nanoTime());
          wait(Math.max(1, leftMillis));
        }
        answers.println("spans=" + spans + " rejected=" + rejected);
      }
    }
  }

  @Override
  public Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    try {
      decoding.execute(() -> decode(payload, length, decoder, completion));
      return Admission.ACCEPTED;
    } catch (RejectedExecutionException e) {
      return Admission.FULL;
    }
  }

  private void decode(byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    Counting sink = new Counting();
    try {
      decoder.decode(payload, length, sink);
    } catch (MalformedPayloadException e) {
      completion.released(payload);
      completion.malformed(e.getMessage());
      return;
    }
    completion.checkpoint();
    completion.released(payload);
    synchronized (this) {
      spans += sink.spans;
      rejected += sink.rejected;
      notifyAll();
    }
    completion.confirmed(sink.spans, sink.rejected, "");
  }

  private static final class Counting implements SpanSink {
    private int spans;
    private int rejected;

    @Override
    public void resource(Attributes attributes) {}

    @Override
    public boolean span(SpanView span) {
      spans++;
      return true;
    }

    @Override
    public void rejected(String reason) {
      rejected++;
    }
  }
}
