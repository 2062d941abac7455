package org.traceetl.perf.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.EdgeKey;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.edge.Half;
import org.traceetl.server.window.QueueId;

/**
 * Performs the work of a server's worker for one queue of half-edges, without RocketMQ: from the
 * bytes of batches to the open window. After a number of half-edges it swaps, seals and returns the
 * window on the same thread.
 *
 * <p>50 applications on five hosts call five others each; one call in eight is a message, one
 * caller in 16 has no callee, one half in 20 failed; for four callers, a database is called once.
 * The callee's half arrives after up to twice as many callers as are open, in another order. Four
 * rounds of as many callers as are open are repeated under new names.
 */
public final class EdgeLoad {
  private static final int ROUNDS = 4;
  private static final int APPLICATIONS = 50;
  private static final int CALLEES = 5;
  private static final int HOSTS = 5;
  private static final int HALVES_OF_BATCH = 500;
  private static final int HALVES_OF_WINDOW = 131_072;
  private static final int CALLS_PER_MILLI = 100;
  private static final int UNPAIRED = 16;
  private static final int MESSAGES = 8;
  private static final int DATABASES = 4;
  private static final int FAILED = 20;
  private static final int MESSAGING_SYSTEM = 1;
  private static final int DATABASE = 2;
  private static final int NONE = -1;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  /** Steps through the calls of even and odd rounds: primes, so that each has a turn. */
  private static final int[] STRIDES = {7_368_787, 15_485_863};

  private final List<Host> hosts = Stream.generate(Host::new).limit(HOSTS).toList();
  private final int open;
  private final List<Message> messages = new ArrayList<>();
  private final QueueAggregator queue;
  private final BatchAges noAges = new BatchAges();
  private long cycleMillis;
  private long beganMillis = 1_790_000_000_000L;
  private int next;
  private int owed;
  private int halvesInWindow;
  private long sequence;
  private long offset;

  /**
   * @param millis when it is stored, since the cycle began
   */
  private record Message(RenamedBatch batch, int halves, long millis) {}

  private final class Host {
    private final EdgeBatchWriter writer = new EdgeBatchWriter();

    Host() {
      writer.begin();
    }

    private int intern(String text) {
      byte[] bytes = text.getBytes(UTF_8);
      return writer.intern(bytes, 0, bytes.length);
    }

    private void head(int application, int side, boolean failed, int type, String peer) {
      int its = intern("application-" + application);
      int named = peer == null ? NONE : intern(peer);
      writer.head(its, NONE, side, failed, type, named, 0, new int[0], 0);
    }

    private void closeAt(long millis, int atLeast) {
      if (writer.halfCount() >= atLeast) {
        int length = writer.finish(1, hosts.indexOf(this), 1, RenamedBatch.FIRST_SEQUENCE);
        byte[] body = Arrays.copyOf(writer.buffer(), length);
        messages.add(new Message(new RenamedBatch(body), writer.halfCount(), millis));
        writer.begin();
      }
    }
  }

  /**
   * @param open number of callers that wait for their callees; those without one are open in
   *     addition, and those of messages until they expire
   */
  public EdgeLoad(int open) {
    this.open = open;
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < open; i++) {
        int place = (int) ((long) i * STRIDES[round & 1] % open);
        int before = (round + ROUNDS - 1) % ROUNDS;
        if (i % UNPAIRED != 0) {
          callee(before * (long) open + place);
        }
        caller(round * (long) open + place);
        cycleMillis = ((long) round * open + i) / CALLS_PER_MILLI + 1;
        hosts.forEach(host -> host.closeAt(cycleMillis, HALVES_OF_BATCH));
      }
    }
    hosts.forEach(host -> host.closeAt(cycleMillis, 1));
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(null, HistogramConfig.Kind.CLASSIC, null))
            .edges(2 * open, Duration.ofMillis(2L * open / CALLS_PER_MILLI + 1), List.of())
            .build();
    aggregation.panes(true);
    queue =
        aggregation.newAggregator(
            new QueueId("broker", 0), aggregation.newMessageDecoder(), new SpanPipelineMetrics());
    queue.beginAt(0);
  }

  private static long mixed(long call) {
    long mixed = (call + 1) * MIX;
    return mixed ^ mixed >>> 29;
  }

  private static int application(long call) {
    return (int) Math.floorMod(mixed(call), APPLICATIONS);
  }

  private static int callee(long call, int application) {
    return (application + 1 + Math.floorMod((int) (mixed(call) >>> 40), CALLEES)) % APPLICATIONS;
  }

  private static boolean isOneOf(long call, int shift, int number) {
    return (mixed(call) >>> shift & 0xffff) % number == 0;
  }

  private void caller(long call) {
    int application = application(call);
    Host host = hosts.get(application % HOSTS);
    boolean isMessage = isOneOf(call, 20, MESSAGES);
    String peer = (isMessage ? "topic-" : "host-") + callee(call, application(call)) + ".example";
    host.head(
        application,
        isMessage ? Half.PRODUCER : Half.CLIENT,
        isOneOf(call, 30, FAILED),
        isMessage ? MESSAGING_SYSTEM : 0,
        peer);
    add(host, call, isMessage, 2_000_000);
    if (isOneOf(call, 10, DATABASES)) {
      host.head(application, Half.CLIENT, false, DATABASE, "orders");
      host.writer.immediate(500_000 + (mixed(call) >>> 44));
    }
  }

  private void callee(long call) {
    int application = callee(call, application(call));
    Host host = hosts.get(application % HOSTS);
    boolean isMessage = isOneOf(call, 20, MESSAGES);
    host.head(
        application,
        isMessage ? Half.CONSUMER : Half.SERVER,
        isOneOf(call, 30, FAILED),
        isMessage ? MESSAGING_SYSTEM : 0,
        null);
    add(host, call, isMessage, 1_000_000);
  }

  private static void add(Host host, long call, boolean isMessage, long nanos) {
    host.writer.waiting(
        EdgeKey.key(0, call, ~call),
        EdgeKey.check(0, call, ~call),
        nanos + (mixed(call) >>> 42),
        isMessage ? 1_790_000_000_000_000L : 0);
  }

  /** Records whole batches of this many halves; surplus ones are subtracted from the next call. */
  public void record(int halves) {
    owed += halves;
    while (owed > 0) {
      Message message = messages.get(next);
      long nowMillis = beganMillis + message.millis;
      queue.accept(message.batch.named(sequence++), nowMillis, nowMillis, noAges);
      owed -= message.halves;
      halvesInWindow += message.halves;
      next++;
      if (next == messages.size()) {
        next = 0;
        beganMillis += cycleMillis;
      }
      if (halvesInWindow >= HALVES_OF_WINDOW) {
        halvesInWindow = 0;
        FilledWindow filled = queue.swap(++offset, nowMillis);
        filled.seal();
        filled.giveBack();
      }
    }
  }
}
