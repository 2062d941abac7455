package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.EdgeKey;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.edge.Half;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

class EdgeRecorderTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int CALL = 0;
  private static final int MESSAGE = 1;
  private static final int DATABASE = 2;

  /** A half that an agent sends; key 0 if it needs no partner. */
  private record Sent(
      String application,
      int side,
      boolean failed,
      int type,
      String peer,
      long key,
      long nanos,
      long messageMicros) {
    Sent(
        String application, int side, boolean failed, int type, String peer, long key, long nanos) {
      this(application, side, failed, type, peer, key, nanos, 0);
    }
  }

  private final EdgeBatchWriter writer = new EdgeBatchWriter();
  private final BatchAges ages = new BatchAges();

  /** Spans and sum of durations of each series: client, server, measure, connection type. */
  private final Map<String, List<Long>> found = new TreeMap<>();

  private final Map<Integer, String> names = new HashMap<>();
  private final Map<String, Long> received = new TreeMap<>();
  private int maxOpen = 1_000;
  private int maxPerApplication = 1_000;
  private Aggregation aggregation = newAggregation();
  private QueueImage image = aggregation.newImage();
  private QueueAggregator owner = owner(aggregation.newImage());
  private long nowMillis = 1_000_000;
  private long sequence;
  private long offset;

  private Aggregation newAggregation() {
    Aggregation made =
        Aggregation.builder(() -> 7)
            .series(
                new SeriesConfig(null, null, null, maxPerApplication, null, null, null, null, null))
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .edges(maxOpen, WAIT)
            .build();
    made.panes(true);
    return made;
  }

  private QueueAggregator owner(QueueImage from) {
    QueueAggregator made =
        aggregation.newAggregator(
            QUEUE, aggregation.newMessageDecoder(), new SpanPipelineMetrics(), from);
    made.beginAt(0);
    return made;
  }

  private void startWith(int open, int perApplication) {
    maxOpen = open;
    maxPerApplication = perApplication;
    aggregation = newAggregation();
    image = aggregation.newImage();
    owner = owner(aggregation.newImage());
  }

  private byte[] batch(List<Sent> halves) {
    writer.begin();
    for (Sent half : halves) {
      writer.head(
          intern(half.application),
          -1,
          half.side,
          half.failed,
          half.type,
          half.peer.isEmpty() ? -1 : intern(half.peer),
          0,
          new int[0],
          0);
      if (half.key == 0) {
        writer.immediate(half.nanos);
      } else {
        writer.waiting(
            EdgeKey.key(1, 2, half.key),
            EdgeKey.check(1, 2, half.key),
            half.nanos,
            half.messageMicros);
      }
    }
    int length = writer.finish(1, 1, 1, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private void accept(byte[] message) {
    owner.accept(message, nowMillis, nowMillis, ages);
    offset++;
  }

  private void accept(Sent... halves) {
    accept(batch(List.of(halves)));
  }

  /** Ends the window, and adds what the journal has of it. */
  private SealedWindow seal() {
    SealedWindow window = SealedWindows.seal(owner, offset, nowMillis);
    if (window == null) {
      return null;
    }
    SealedWindow read = read(window);
    image.apply(read);
    read.created().forEach(definition -> names.put(definition.series(), name(definition)));
    for (int row = 0; row < read.rows(); row++) {
      long spans = 0;
      for (int bucket = 0; bucket < read.stride(); bucket++) {
        spans += read.counts()[row * read.stride() + bucket];
      }
      add(found, names.get(read.series()[row]), spans, read.durationNanos()[row]);
    }
    for (Books books : read.books()) {
      assertThat(books.balance()).as("%s", books).isTrue();
      received.merge(books.application(), books.received(), Long::sum);
    }
    return read;
  }

  private static SealedWindow read(SealedWindow window) {
    try {
      return HandOverTest.read(window);
    } catch (MalformedRecordException e) {
      throw new AssertionError(e);
    }
  }

  private static String name(SeriesDefinition definition) {
    List<String> values = definition.values();
    return values.get(SeriesDefinition.APPLICATION)
        + (definition.overflow() ? "…" : ">" + values.get(SeriesDefinition.SPAN_NAME))
        + " "
        + EdgeMeasure.of(Integer.parseInt(values.get(SeriesDefinition.SPAN_KIND)))
        + (definition.overflow() ? "" : " " + Objects.toString(values.get(4), ""));
  }

  private static void add(Map<String, List<Long>> to, String name, long spans, long durationNanos) {
    to.merge(
        name,
        List.of(spans, durationNanos),
        (one, other) -> List.of(one.get(0) + other.get(0), one.get(1) + other.get(1)));
  }

  /** Lets time pass by messages without halves. */
  private void pass(Duration time) {
    for (long millis = 0; millis < time.toMillis(); millis += StreamClock.MAX_STEP_MILLIS) {
      nowMillis += StreamClock.MAX_STEP_MILLIS;
      accept(batch(List.of()));
    }
  }

  private static Sent client(String application, String peer, long key, long nanos) {
    return new Sent(application, Half.CLIENT, false, CALL, peer, key, nanos);
  }

  private static Sent server(String application, boolean failed, long key, long nanos) {
    return new Sent(application, Half.SERVER, failed, CALL, "", key, nanos);
  }

  @Test
  void aCallCountsOnceInThePaneOfItsClient() {
    accept(client("shop", "stock.example", 1, 9));
    long clientMillis = nowMillis;
    assertThat(seal().rows()).isZero();
    nowMillis += 20_000;
    accept(server("stock", true, 1, 5));
    SealedWindow window = seal();

    assertThat(found)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "shop>stock REQUESTS ", List.of(1L, 0L),
                "shop>stock FAILED ", List.of(1L, 0L),
                "shop>stock SERVER ", List.of(1L, 5L),
                "shop>stock CLIENT ", List.of(1L, 9L),
                "shop>stock LATENCY ", List.of(1L, 4L)));
    assertThat(window.panes().mainMillis())
        .isEqualTo(clientMillis / aggregation.paneMillis() * aggregation.paneMillis());
    assertThat(received).isEqualTo(Map.of("shop", 1L, "stock", 1L));
  }

  @Test
  void aCallerThatExpiresIsAnEdgeToItsPeerOrUnpaired() {
    accept(
        client("shop", "bank.example", 1, 9), client("shop", "", 2, 8), server("bank", true, 3, 7));
    seal();
    assertThat(found).isEmpty();
    pass(WAIT);
    accept(new Sent("shop", Half.CLIENT, false, DATABASE, "orders", 0, 3));
    seal();

    assertThat(found)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "shop>bank.example REQUESTS virtual_node", List.of(1L, 0L),
                "shop>bank.example CLIENT virtual_node", List.of(1L, 9L),
                "shop> UNPAIRED_CLIENT ", List.of(1L, 0L),
                "bank> UNPAIRED_SERVER ", List.of(1L, 0L),
                "shop>orders REQUESTS database", List.of(1L, 0L),
                "shop>orders CLIENT database", List.of(1L, 3L)));
    assertThat(received).isEqualTo(Map.of("shop", 3L, "bank", 1L));
  }

  @Test
  void aFullTableAndARepeatAreInTheBooks() {
    startWith(2, 1_000);
    accept(client("a", "", 1, 1), client("a", "", 2, 1), client("a", "", 3, 1));
    byte[] batch = batch(List.of(server("b", false, 1, 1), server("b", false, 1, 1)));
    accept(batch);
    accept(batch);
    SealedWindow window = seal();

    Books ofA = SealedWindows.books(window, "a");
    assertThat(ofA.overflowed()).isOne();
    assertThat(ofA.recorded()).isOne();
    Books ofB = SealedWindows.books(window, "b");
    assertThat(ofB.recorded()).isOne();
    assertThat(ofB.duplicate()).isEqualTo(2);
    assertThat(window.edges().opened()).hasSize(2);
    assertThat(found.get("a> DROPPED_CLIENT ")).isEqualTo(List.of(1L, 0L));
  }

  @Test
  void halvesWithoutRoomCountAsDropped() {
    startWith(1, 1_000);
    accept(client("a", "", 1, 1), client("a", "", 2, 1), server("a", true, 3, 1));
    SealedWindow window = seal();

    assertThat(found)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("a> DROPPED_CLIENT ", List.of(1L, 0L), "a> DROPPED_SERVER ", List.of(1L, 0L)));
    assertThat(SealedWindows.books(window, "a").overflowed()).isEqualTo(2);
  }

  @Test
  void anOutageOfTheBrokerExpiresNoHalf() {
    accept(client("shop", "stock.example", 1, 9));
    nowMillis += Duration.ofHours(2).toMillis();
    accept(server("stock", false, 1, 5));
    seal();

    assertThat(found.get("shop>stock REQUESTS ")).isEqualTo(List.of(1L, 0L));
  }

  @Test
  void edgesWithoutRoomCountInTheOverflowSeriesOfTheirMeasure() {
    startWith(1_000, 4);
    accept(client("a", "", 1, 1), client("a", "", 2, 2), server("b", false, 1, 1));
    accept(server("c", false, 2, 2));
    seal();

    assertThat(found.get("a>b REQUESTS ")).isEqualTo(List.of(1L, 0L));
    assertThat(found.get("a… REQUESTS")).isEqualTo(List.of(1L, 0L));
    assertThat(found.get("a… SERVER")).isEqualTo(List.of(1L, 2L));
    assertThat(received).isEqualTo(Map.of("a", 2L, "b", 1L, "c", 1L));
  }

  @Test
  void frequentEdgesReplaceRareOnes() {
    startWith(1_000, 4);
    Sent rare = new Sent("a", Half.CLIENT, false, DATABASE, "rare", 0, 1);
    Sent other = new Sent("a", Half.CLIENT, false, DATABASE, "other", 0, 1);
    Sent frequent = new Sent("a", Half.CLIENT, false, DATABASE, "frequent", 0, 2);
    accept(rare, other);
    int windows = 0;
    do {
      accept(Collections.nCopies(100, frequent).toArray(Sent[]::new));
      seal();
      windows++;
    } while (!found.containsKey("a>frequent REQUESTS database")
        || !found.containsKey("a>frequent CLIENT database"));

    assertThat(windows).isLessThan(10);
    assertThat(sum("REQUESTS")).isEqualTo(List.of(100L * windows + 2, 0L));
    assertThat(sum("CLIENT")).isEqualTo(List.of(100L * windows + 2, 200L * windows + 2));
  }

  private List<Long> sum(String measure) {
    Map<String, List<Long>> sum = new TreeMap<>();
    found.forEach((name, values) -> {
      if (name.contains(" " + measure)) {
        add(sum, measure, values.get(0), values.get(1));
      }
    });
    return sum.get(measure);
  }

  /**
   * Calls, messages and immediate halves of random applications, in random order, some with one end
   * missing; batches are repeated, and owners change in the middle of windows.
   */
  @Property(tries = 200)
  void everyEdgeCountsExactlyOnce(@ForAll long seed) {
    new EdgeRecorderTest().countsExactlyOnce(new Random(seed));
  }

  private void countsExactlyOnce(Random random) {
    Map<String, List<Long>> expected = new TreeMap<>();
    Map<String, Long> sent = new TreeMap<>();
    Deque<byte[]> unsealed = new ArrayDeque<>();
    List<Sent> late = new ArrayList<>();
    for (int round = 0; round < 30; round++) {
      List<Sent> halves = new ArrayList<>(late);
      late.clear();
      for (int requests = random.nextInt(12); requests > 0; requests--) {
        addRequest(random, halves, expected);
      }
      Collections.shuffle(halves, random);
      // The other half comes with a later batch, in time.
      for (int i = random.nextInt(halves.size() + 1); i > 0 && round < 29; i--) {
        late.add(halves.removeLast());
      }
      halves.forEach(half -> sent.merge(half.application, 1L, Long::sum));
      byte[] message = batch(halves);
      accept(message);
      unsealed.add(message);
      if (random.nextInt(5) == 0) {
        accept(message);
        unsealed.add(message);
        halves.forEach(half -> sent.merge(half.application, 1L, Long::sum));
      }
      nowMillis += random.nextInt(600);
      if (random.nextInt(3) == 0) {
        seal();
        unsealed.clear();
      }
      if (random.nextInt(6) == 0) {
        owner.release();
        aggregation = newAggregation();
        QueueImage copy = copy();
        copy.ownedUntil(nowMillis);
        owner = owner(copy);
        offset -= unsealed.size();
        unsealed.forEach(this::accept);
      }
    }
    // A new owner does not know how long the queue had no message before its first one.
    pass(WAIT.plusMillis(StreamClock.MAX_STEP_MILLIS));
    seal();

    assertThat(found).isEqualTo(expected);
    assertThat(received).isEqualTo(sent);
    assertThat(image.edges().open()).isZero();
  }

  /** Returns the state as a snapshot has it. */
  private QueueImage copy() {
    QueueImage made = aggregation.newImage();
    try {
      HandOverTest.copy(image, made);
    } catch (MalformedRecordException e) {
      throw new AssertionError(e);
    }
    return made;
  }

  private void addRequest(Random random, List<Sent> to, Map<String, List<Long>> expected) {
    String from = "app-" + random.nextInt(4);
    String other = "app-" + random.nextInt(4);
    String peer = random.nextBoolean() ? "" : "host-" + random.nextInt(3);
    boolean failed = random.nextInt(4) == 0;
    long key = random.nextLong(1, Long.MAX_VALUE);
    long outer = random.nextLong(200_000_000);
    long inner = random.nextLong(200_000_000);
    switch (random.nextInt(7)) {
      case 0 -> {
        to.add(new Sent(from, Half.CLIENT, failed, DATABASE, "db", 0, outer));
        expect(expected, from + ">db ", " database", failed, -1, outer, false);
      }
      case 1 -> {
        to.add(new Sent(from, Half.SERVER, failed, CALL, "", 0, inner));
        expect(expected, "user>" + from + " ", " virtual_node", failed, inner, -1, false);
      }
      case 2 -> {
        to.add(new Sent(from, Half.CLIENT, failed, CALL, peer, key, outer));
        if (peer.isEmpty()) {
          add(expected, from + "> UNPAIRED_CLIENT ", 1, 0);
        } else {
          expect(expected, from + ">" + peer + " ", " virtual_node", failed, -1, outer, false);
        }
      }
      case 3 -> {
        to.add(new Sent(from, Half.CONSUMER, failed, MESSAGE, "", key, inner));
        add(expected, from + "> UNPAIRED_SERVER messaging_system", 1, 0);
      }
      case 4 -> {
        long sent = random.nextInt(4) == 0 ? 0 : random.nextLong(1, 1_000);
        to.add(new Sent(from, Half.PRODUCER, false, MESSAGE, peer, key, outer, sent));
        for (int consumers = random.nextInt(1, 4); consumers > 0; consumers--) {
          long received = random.nextInt(4) == 0 ? 0 : random.nextLong(1_000);
          to.add(new Sent(other, Half.CONSUMER, failed, MESSAGE, "", key, inner, received));
          if (sent > 0 && received >= sent) {
            String messages = from + ">" + other + " MESSAGING messaging_system";
            add(expected, messages, 1, 1_000 * (received - sent));
          }
          expect(
              expected, from + ">" + other + " ", " messaging_system", failed, inner, outer, false);
        }
      }
      default -> {
        to.add(new Sent(from, Half.CLIENT, failed, CALL, peer, key, outer));
        to.add(new Sent(other, Half.SERVER, random.nextBoolean() && failed, CALL, "", key, inner));
        expect(expected, from + ">" + other + " ", " ", failed, inner, outer, true);
      }
    }
  }

  /**
   * @param serverNanos -1 without a callee
   * @param clientNanos -1 without a caller
   */
  private static void expect(
      Map<String, List<Long>> expected,
      String edge,
      String type,
      boolean failed,
      long serverNanos,
      long clientNanos,
      boolean isCall) {
    add(expected, edge + EdgeMeasure.REQUESTS + type, 1, 0);
    if (failed) {
      add(expected, edge + EdgeMeasure.FAILED + type, 1, 0);
    }
    if (serverNanos >= 0) {
      add(expected, edge + EdgeMeasure.SERVER + type, 1, serverNanos);
    }
    if (clientNanos >= 0) {
      add(expected, edge + EdgeMeasure.CLIENT + type, 1, clientNanos);
    }
    if (isCall) {
      add(expected, edge + EdgeMeasure.LATENCY + type, 1, Math.max(0, clientNanos - serverNanos));
    }
  }
}
