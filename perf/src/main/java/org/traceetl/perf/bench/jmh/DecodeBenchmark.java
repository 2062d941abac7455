package org.traceetl.perf.bench.jmh;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.proto.thrift.SpanBatch;

/** Reads a batch with the cursor and with Thrift's generated classes; time per span. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class DecodeBenchmark {
  static final int SPANS = 512;
  private static final int BATCHES = 256;

  private final List<byte[]> batches = new SpanStream(1, 30, 50).batches(BATCHES, SPANS, SPANS);
  private final SpanBatchReader reader = new SpanBatchReader();
  private int next;

  @Benchmark
  @org.openjdk.jmh.annotations.OperationsPerInvocation(SPANS)
  public long cursor() {
    byte[] batch = batches.get(next++ & (BATCHES - 1));
    reader.wrap(batch, 0, batch.length);
    long sum = 0;
    while (reader.next()) {
      sum += reader.durationNanos() + reader.attributes()[1];
    }
    return sum;
  }

  @Benchmark
  @org.openjdk.jmh.annotations.OperationsPerInvocation(SPANS)
  public SpanBatch generatedClasses() throws TException {
    byte[] batch = batches.get(next++ & (BATCHES - 1));
    SpanBatch read = new SpanBatch();
    read.read(new TCompactProtocol(new TMemoryInputTransport(batch)));
    return read;
  }
}
