package org.traceetl.perf.bench.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.server.edge.Half;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.edge.Joins;
import org.traceetl.server.edge.TableChange;

/**
 * Joins half-edges while a number of them is open; time per half, with expiry and the change of a
 * window each 127,000 halves. A client's half comes first; its server's half comes after up to
 * twice as many clients as are open, in another order. One in 16 has no server's half and expires.
 * The bytes of a half are printed once.
 */
@Fork(value = 1, jvmArgsAppend = "-Xmx1g")
public class HalfTableBenchmark extends StepBenchmark {
  private static final int CLIENTS = 65_536;
  private static final int UNPAIRED = 16;
  private static final int HALVES = CLIENTS * 2 - CLIENTS / UNPAIRED;
  private static final int CLIENTS_PER_MILLI = 100;
  private static final int BATCH = 256;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  /**
   * Steps through the places of clients in even and odd rounds: primes, so that each has a turn.
   */
  private static final int[] STRIDES = {7_368_787, 15_485_863};

  /** Number of clients that wait for their servers; those without one are open in addition. */
  @Param({"10000", "100000", "1000000"})
  private int open;

  private final Half half = new Half();

  // A batch
  private final long[] keys = new long[BATCH];
  private final int[] checks = new int[BATCH];
  private final int[] sides = new int[BATCH];
  private int halves;

  private final Counter counter = new Counter();
  private HalfTable table;

  /** Number of the next client, its round and its place in it. */
  private long client;

  private long round;
  private int place;

  /** Reads all that a table passes on. */
  private static final class Counter implements Joins, TableChange {
    private long sum;

    @Override
    public void paired(Half caller, Half callee) {
      sum += caller.durationNanos() - callee.durationNanos() + caller.head() + callee.head();
    }

    @Override
    public void expired(Half expired) {
      sum += expired.head();
    }

    @Override
    public void advanced(long streamMillis) {
      sum += streamMillis;
    }

    @Override
    public void left(int number) {
      sum += number;
    }

    @Override
    public void paired(int number) {
      sum += number;
    }

    @Override
    public void opened(int number, Half opened) {
      sum += number + opened.key();
    }
  }

  @Setup(Level.Trial)
  public void setUp() {
    double before = heapBytes();
    table = new HalfTable(open / 4 * 5, 2L * open / CLIENTS_PER_MILLI + 1, 1);
    while (client < open) {
      addClient();
      offerAll();
    }
    table.endWindow(counter);
    System.out.printf(
        "%d open halves: %.1f bytes a half%n", table.open(), (heapBytes() - before) / table.open());
  }

  @Benchmark
  @OperationsPerInvocation(HALVES)
  public long join() {
    for (int i = 0; i < CLIENTS; i += BATCH / 2) {
      table.advance(client / CLIENTS_PER_MILLI, counter);
      for (int j = i; j < i + BATCH / 2; j++) {
        if (j % UNPAIRED != 0) {
          add(round - 1, Half.SERVER);
        }
        addClient();
      }
      offerAll();
    }
    table.endWindow(counter);
    return counter.sum;
  }

  private void addClient() {
    add(round, Half.CLIENT);
    place = (place + STRIDES[(int) round & 1] % open) % open;
    client++;
    if (client % open == 0) {
      round++;
      place = 0;
    }
  }

  /** Adds the half of the client that has this place in a round, or of its server, to the batch. */
  private void add(long ofRound, int side) {
    long key = (ofRound * open + place) * MIX;
    keys[halves] = key;
    checks[halves] = (int) (key >>> 32) & 0xFFFF;
    sides[halves++] = side;
  }

  private void offerAll() {
    int prepared = 0;
    for (int i = 0; i < halves; i++) {
      if (i == prepared) {
        prepared = table.prepare(keys, checks, i, halves);
      }
      half.set(keys[i], checks[i], sides[i], (int) client, client, client, 0);
      table.offer(half, counter);
    }
    halves = 0;
  }

  private static double heapBytes() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
