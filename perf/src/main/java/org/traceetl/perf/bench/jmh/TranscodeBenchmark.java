package org.traceetl.perf.bench.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.pipeline.Pipeline;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Settlement;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.perf.bench.load.OtlpExport;
import org.traceetl.perf.bench.load.SpanStream;

/**
 * Measures the agent's work on an OTLP request between network and broker; time per span. Variants
 * are the decoding alone, and the whole pipeline: decode, route, batch, write to the spool. It runs
 * on this thread; batches count as published at once.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class TranscodeBenchmark {
  private static final int SPANS = 512;
  private static final int REQUESTS = 64;
  private static final int QUEUES = 8;

  private final byte[][] requests = requests();
  private final OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
  private final Counts counts = new Counts();
  private Path directory;
  private Spool spool;
  private Pipeline pipeline;
  private int next;

  private static byte[][] requests() {
    OtlpExport export = new OtlpExport();
    return new SpanStream(1, 30, 50)
        .batches(REQUESTS, SPANS, SPANS).stream().map(export::of).toArray(byte[][]::new);
  }

  @Setup
  public void open() throws IOException {
    directory = Files.createTempDirectory("trace-etl-transcode");
    AgentIdentity identity = new AgentIdentity(1, 2, 3);
    AgentMetrics metrics = new AgentMetrics();
    spool =
        Spool.open(
            SpoolConfig.defaults(directory),
            identity,
            metrics,
            System::nanoTime,
            System::currentTimeMillis);
    spool.outlet(new Published());
    pipeline =
        new Pipeline(
            PipelineConfig.defaults(),
            new Router(RoutingRules.defaults()),
            identity,
            spool,
            metrics,
            System::nanoTime,
            System::currentTimeMillis);
    pipeline.topology(
        new Topology(
            IntStream.range(0, QUEUES).mapToObj(i -> new BrokerQueue("broker-a", i)).toList()));
  }

  @TearDown
  public void close() throws IOException {
    spool.close();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public long decode() throws MalformedPayloadException {
    decoder.decode(requests[next++ & (REQUESTS - 1)], counts);
    return counts.sum;
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public long pipeline() throws InterruptedException {
    byte[] request = requests[next++ & (REQUESTS - 1)];
    if (pipeline.offer("bench", request, decoder, counts) != Admission.ACCEPTED) {
      throw new IllegalStateException("not accepted: " + pipeline.problem());
    }
    pipeline.doWork();
    return counts.sum;
  }

  private static final class Counts implements SpanSink, Completion {
    private long sum;

    @Override
    public void resource(Attributes attributes) {
      sum += attributes.size();
    }

    @Override
    public void span(SpanView span) {
      sum += span.durationNanos + span.attributes.size();
    }

    @Override
    public void rejected(String reason) {
      throw new IllegalStateException(reason);
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      if (accepted != SPANS) {
        throw new IllegalStateException(accepted + " spans were accepted: " + reason);
      }
      sum += accepted;
    }

    @Override
    public void malformed(String reason) {
      throw new IllegalStateException(reason);
    }

    @Override
    public void failed(String reason) {
      throw new IllegalStateException(reason);
    }
  }

  private final class Published implements Outlet {
    @Override
    public void append(List<SpooledBatch> batches) {
      for (SpooledBatch batch : batches) {
        batch.body(null);
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }

    @Override
    public void forget(List<SpooledBatch> batches) {}
  }
}
