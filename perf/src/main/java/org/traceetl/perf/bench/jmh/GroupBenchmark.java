package org.traceetl.perf.bench.jmh;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.perf.bench.load.RecordLoad;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.HistogramConfig;

/**
 * Writes, reads and records a batch of a cache client's commands, as single spans or as groups of
 * equal ones; time per span. Ten commands on three hosts, two attributes, durations of 0.1 to 3 ms.
 * The bytes of a span are printed once.
 */
public class GroupBenchmark extends StepBenchmark {
  private static final int SPANS = 1_024;
  private static final int BATCHES = 64;
  private static final int COMMANDS = 10;
  private static final int HOSTS = 3;
  private static final long MIN_NANOS = 100_000;
  private static final long MAX_NANOS = 3_000_000;

  @Param({"spans", "groups"})
  private String form;

  private final Random random = new Random(1);
  private final byte[] system = "db.system.name".getBytes(UTF_8);
  private final byte[] redis = "redis".getBytes(UTF_8);
  private final byte[] address = "server.address".getBytes(UTF_8);
  private final byte[] application = "checkout".getBytes(UTF_8);
  private final byte[][] commands = new byte[COMMANDS][];
  private final byte[][] hosts = new byte[HOSTS][];
  private final int[] commandOf = new int[SPANS];
  private final int[] hostOf = new int[SPANS];
  private final long[] nanosOf = new long[SPANS];
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SpanBatchReader reader = new SpanBatchReader();
  private final List<byte[]> batches = new ArrayList<>();
  private boolean grouped;
  private RecordLoad load;
  private int next;

  @Setup(Level.Trial)
  public void setUp() {
    grouped = form.equals("groups");
    Arrays.setAll(commands, i -> ("COMMAND" + i).getBytes(UTF_8));
    Arrays.setAll(hosts, i -> ("cache-" + i + ".example.com").getBytes(UTF_8));
    for (int batch = 0; batch < BATCHES; batch++) {
      Arrays.setAll(commandOf, i -> random.nextInt(COMMANDS));
      Arrays.setAll(hostOf, i -> random.nextInt(HOSTS));
      Arrays.setAll(nanosOf, i -> random.nextLong(MIN_NANOS, MAX_NANOS));
      int length = write();
      batches.add(Arrays.copyOf(writer.buffer(), length));
    }
    load =
        new RecordLoad(
            batches, List.of(), HistogramConfig.Kind.CLASSIC, 4, BATCHES * SPANS * 15, 0);
    long bytes = batches.stream().mapToLong(batch -> batch.length).sum();
    System.out.printf("%s: %.1f bytes a span%n", form, (double) bytes / BATCHES / SPANS);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public int write() {
    writer.begin();
    writer.application(writer.intern(application, 0, application.length));
    for (int i = 0; i < SPANS; i++) {
      byte[] name = commands[commandOf[i]];
      int index = writer.intern(name, 0, name.length);
      if (grouped) {
        writer.startGroupedSpan(index, 3, 0, nanosOf[i], 0);
      } else {
        writer.startSpan(
            i,
            ~i,
            i + 1,
            i + 2,
            index,
            3,
            0,
            1_795_000_000_000_000_000L + i * 1_000L,
            nanosOf[i],
            0);
      }
      writer.attribute(system, 0, system.length, redis, 0, redis.length);
      byte[] host = hosts[hostOf[i]];
      writer.attribute(address, 0, address.length, host, 0, host.length);
      writer.endSpan();
    }
    return writer.finish(1, 2, 3, 1L << 32);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public long read() {
    byte[] batch = batches.get(next++ & (BATCHES - 1));
    reader.wrap(batch, 0, batch.length);
    long sum = 0;
    while (reader.next()) {
      sum += reader.durationNanos();
    }
    while (reader.nextGroup()) {
      for (int i = 0; i < reader.groupSize(); i++) {
        sum += reader.groupDurationsNanos()[i];
      }
    }
    return sum;
  }

  @Benchmark
  @OperationsPerInvocation(BATCHES * SPANS)
  public void record() {
    load.record(BATCHES * SPANS);
  }
}
