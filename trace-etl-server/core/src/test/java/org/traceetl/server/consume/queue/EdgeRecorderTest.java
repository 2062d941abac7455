package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Strings;
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
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeSlots;
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
  private static final QueueId ADDED_QUEUE = new QueueId("c", 0);
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int CALL = 0;
  private static final int MESSAGE = 1;
  private static final int DATABASE = 2;

  /**
   * A half that an agent sends.
   *
   * @param key 0 if it needs no partner
   * @param values by key of a dimension
   */
  private record Sent(
      String application,
      int side,
      boolean failed,
      int type,
      String peer,
      long key,
      long nanos,
      long messageMicros,
      Map<String, String> values) {
    Sent(
        String application, int side, boolean failed, int type, String peer, long key, long nanos) {
      this(application, side, failed, type, peer, key, nanos, 0, Map.of());
    }

    Sent with(Map<String, String> others) {
      return new Sent(application, side, failed, type, peer, key, nanos, messageMicros, others);
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
  private List<String> dimensions = List.of();
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
            .edges(maxOpen, WAIT, dimensions)
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

  private void startWith(int open, int perApplication, String... keys) {
    maxOpen = open;
    maxPerApplication = perApplication;
    dimensions = List.of(keys);
    aggregation = newAggregation();
    image = aggregation.newImage();
    owner = owner(aggregation.newImage());
  }

  private byte[] batch(List<Sent> halves) {
    writer.begin();
    for (Sent half : halves) {
      int[] pairs =
          half.values.entrySet().stream()
              .flatMapToInt(value -> IntStream.of(intern(value.getKey()), intern(value.getValue())))
              .toArray();
      writer.head(
          intern(half.application),
          -1,
          half.side,
          half.failed,
          half.type,
          half.peer.isEmpty() ? -1 : intern(half.peer),
          0,
          pairs,
          pairs.length / 2);
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
        + (definition.overflow() ? "" : " " + Objects.toString(values.get(4), ""))
        + name(values.subList(5, values.size()));
  }

  /** Returns the values of client and server, if there are some. */
  private static String name(List<String> values) {
    int ofEachEnd = values.size() / 2;
    return values.stream().allMatch(Objects::isNull)
        ? ""
        : " " + values.subList(0, ofEachEnd) + values.subList(ofEachEnd, 2 * ofEachEnd);
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
  void callsOfOneEdgeCountInTheirPanes() {
    accept(client("shop", "", 1, 9), client("shop", "", 2, 8));
    nowMillis += 20_000;
    accept(client("cart", "", 3, 6), client("shop", "", 4, 7));
    accept(server("stock", false, 1, 5));
    accept(server("stock", false, 3, 5));
    accept(server("stock", false, 4, 5), server("stock", false, 2, 5));
    SealedWindow window = seal();

    assertThat(found)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "shop>stock REQUESTS ", List.of(3L, 0L),
                "shop>stock SERVER ", List.of(3L, 15L),
                "shop>stock CLIENT ", List.of(3L, 24L),
                "shop>stock LATENCY ", List.of(3L, 9L),
                "cart>stock REQUESTS ", List.of(1L, 0L),
                "cart>stock SERVER ", List.of(1L, 5L),
                "cart>stock CLIENT ", List.of(1L, 6L),
                "cart>stock LATENCY ", List.of(1L, 1L)));
    assertThat(window.panes().others()).hasSize(1);
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

  /** Otherwise a caller with a peer would be an edge to a virtual node, which does not exist. */
  @Test
  void halvesThatAChangeOfTheListSeparatesCountAsMoved() {
    long here = keyOf(QUEUE);
    long elsewhere = keyOf(ADDED_QUEUE);
    aggregation.edgeQueues(list(1, QUEUE));
    accept(
        client("shop", "bank.example", elsewhere, 9),
        server("bank", false, elsewhere + 1, 7),
        client("shop", "bank.example", here, 9),
        new Sent("cart", Half.PRODUCER, false, MESSAGE, "orders", elsewhere + 2, 5));
    aggregation.edgeQueues(list(nowMillis, QUEUE, ADDED_QUEUE));
    pass(WAIT);
    seal();

    assertThat(found)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "shop> MOVED_CLIENT ", List.of(1L, 0L),
                "bank> MOVED_SERVER ", List.of(1L, 0L),
                "cart> MOVED_CLIENT messaging_system", List.of(1L, 0L),
                "shop>bank.example REQUESTS virtual_node", List.of(1L, 0L),
                "shop>bank.example CLIENT virtual_node", List.of(1L, 9L)));
    assertThat(received).isEqualTo(Map.of("shop", 2L, "bank", 1L, "cart", 1L));
  }

  private static EdgeQueues list(long decidedMillis, QueueId... queues) {
    Map<String, EdgeQueues.Queues> brokers = new TreeMap<>();
    for (QueueId queue : queues) {
      brokers.put(queue.broker(), new EdgeQueues.Queues(queue.queue()));
    }
    return new EdgeQueues(decidedMillis, decidedMillis, brokers);
  }

  /** Returns the first of three span IDs whose halves are in a queue by the list of both queues. */
  private static long keyOf(QueueId queue) {
    EdgeSlots slots = new EdgeSlots(list(1, QUEUE, ADDED_QUEUE));
    return LongStream.iterate(1, id -> id + 3)
        .filter(id ->
            LongStream.range(id, id + 3)
                .allMatch(each -> {
                  int place = slots.place(EdgeKey.slot(EdgeKey.key(1, 2, each)));
                  return slots.broker(place).equals(queue.broker());
                }))
        .findFirst()
        .getAsLong();
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
  void seriesHaveTheValuesOfBothEnds() {
    startWith(1_000, 1_000, "b", "a");
    Map<String, String> ofShop = Map.of("a", "1", "other", "x");
    Map<String, String> ofStock = Map.of("a", "2", "b", "/");
    accept(client("shop", "", 1, 9).with(ofShop), server("stock", false, 1, 5).with(ofStock));
    accept(new Sent("shop", Half.CLIENT, false, DATABASE, "db", 0, 3).with(ofShop));
    accept(new Sent("shop", Half.SERVER, false, CALL, "", 0, 3).with(ofShop));
    accept(client("shop", "", 2, 9).with(ofShop), server("stock", false, 3, 5).with(ofStock));
    pass(WAIT.plusMillis(StreamClock.MAX_STEP_MILLIS));
    seal();

    assertThat(found)
        .containsOnlyKeys(
            "shop>stock REQUESTS  [null, 1][/, 2]",
            "shop>stock SERVER  [null, 1][/, 2]",
            "shop>stock CLIENT  [null, 1][/, 2]",
            "shop>stock LATENCY  [null, 1][/, 2]",
            "shop>db REQUESTS database [null, 1][null, null]",
            "shop>db CLIENT database [null, 1][null, null]",
            "user>shop REQUESTS virtual_node [null, null][null, 1]",
            "user>shop SERVER virtual_node [null, null][null, 1]",
            "shop> UNPAIRED_CLIENT  [null, 1][null, null]",
            "stock> UNPAIRED_SERVER  [null, null][/, 2]");
  }

  @Test
  void halvesWithoutRoomHaveTheValuesOfTheirOwnEnd() {
    startWith(1, 1_000, "a");
    accept(client("shop", "", 1, 1));
    accept(
        client("shop", "", 2, 1).with(Map.of("a", "1")),
        server("shop", false, 3, 1).with(Map.of("a", "2")));
    seal();

    assertThat(found)
        .containsOnlyKeys("shop> DROPPED_CLIENT  [1][null]", "shop> DROPPED_SERVER  [null][2]");
  }

  /** They differ in nothing but a value, and the application has room for one. */
  @Test
  void frequentValuesReplaceRareOnes() {
    startWith(1_000, 2, "a");
    Sent rare = new Sent("a", Half.CLIENT, false, DATABASE, "db", 0, 1).with(Map.of("a", "rare"));
    Sent frequent = rare.with(Map.of("a", "frequent"));
    accept(rare);
    int windows = 10;
    for (int window = 0; window < windows; window++) {
      for (int once = 0; once < 20; once++) {
        accept(rare.with(Map.of("a", "once " + window + " " + once)));
      }
      accept(Collections.nCopies(100, frequent).toArray(Sent[]::new));
      seal();
    }

    assertThat(found).containsKey("a>db REQUESTS database [frequent][null]");
    assertThat(found.keySet()).noneMatch(name -> name.contains("once"));
    assertThat(sum("REQUESTS")).isEqualTo(List.of(120L * windows + 1, 0L));
  }

  /** As after a restart with another configuration, between the halves of a call. */
  @Test
  void anOwnerWithOtherDimensionsPairsTheHalvesOfItsPredecessor() {
    startWith(1_000, 1_000, "a", "b");
    Map<String, String> values = Map.of("a", "1", "b", "2", "c", "3");
    accept(client("shop", "", 1, 9).with(values));
    accept(new Sent("shop", Half.CLIENT, false, DATABASE, "db", 0, 3).with(values));
    seal();
    owner.release();
    found.clear();
    dimensions = List.of("c", "b");
    aggregation = newAggregation();
    owner = owner(copy());
    image = copy();
    accept(server("stock", false, 1, 5).with(values));
    accept(new Sent("shop", Half.CLIENT, false, DATABASE, "db", 0, 3).with(values));
    seal();

    assertThat(found)
        .containsEntry("shop>stock REQUESTS  [null, 2][3, 2]", List.of(1L, 0L))
        .containsEntry("shop>db CLIENT database [3, 2][null, null]", List.of(1L, 3L))
        .hasSize(6);
    assertThat(received).isEqualTo(Map.of("shop", 3L, "stock", 1L));
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
    startWith(1_000, 1_000, List.of("a", "b").subList(0, random.nextInt(3)).toArray(String[]::new));
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
    Map<String, String> caller = values(random);
    Map<String, String> callee = values(random);
    switch (random.nextInt(7)) {
      case 0 -> {
        to.add(new Sent(from, Half.CLIENT, failed, DATABASE, "db", 0, outer).with(caller));
        String type = " database" + name(caller, Map.of());
        expect(expected, from + ">db ", type, failed, -1, outer, false);
      }
      case 1 -> {
        to.add(new Sent(from, Half.SERVER, failed, CALL, "", 0, inner).with(callee));
        String type = " virtual_node" + name(Map.of(), callee);
        expect(expected, "user>" + from + " ", type, failed, inner, -1, false);
      }
      case 2 -> {
        to.add(new Sent(from, Half.CLIENT, failed, CALL, peer, key, outer).with(caller));
        String values = name(caller, Map.of());
        if (peer.isEmpty()) {
          add(expected, from + "> UNPAIRED_CLIENT " + values, 1, 0);
        } else {
          String type = " virtual_node" + values;
          expect(expected, from + ">" + peer + " ", type, failed, -1, outer, false);
        }
      }
      case 3 -> {
        to.add(new Sent(from, Half.CONSUMER, failed, MESSAGE, "", key, inner).with(callee));
        String values = name(Map.of(), callee);
        add(expected, from + "> UNPAIRED_SERVER messaging_system" + values, 1, 0);
      }
      case 4 -> {
        long sent = random.nextInt(4) == 0 ? 0 : random.nextLong(1, 1_000);
        to.add(new Sent(from, Half.PRODUCER, false, MESSAGE, peer, key, outer, sent, caller));
        for (int consumers = random.nextInt(1, 4); consumers > 0; consumers--) {
          long received = random.nextInt(4) == 0 ? 0 : random.nextLong(1_000);
          to.add(new Sent(other, Half.CONSUMER, failed, MESSAGE, "", key, inner, received, callee));
          String edge = from + ">" + other + " ";
          String type = " messaging_system" + name(caller, callee);
          if (sent > 0 && received >= sent) {
            add(expected, edge + EdgeMeasure.MESSAGING + type, 1, 1_000 * (received - sent));
          }
          expect(expected, edge, type, failed, inner, outer, false);
          callee = values(random);
        }
      }
      default -> {
        boolean both = random.nextBoolean();
        to.add(new Sent(from, Half.CLIENT, failed, CALL, peer, key, outer).with(caller));
        to.add(new Sent(other, Half.SERVER, both && failed, CALL, "", key, inner).with(callee));
        String type = " " + name(caller, callee);
        expect(expected, from + ">" + other + " ", type, failed, inner, outer, true);
      }
    }
  }

  private static Map<String, String> values(Random random) {
    Map<String, String> values = new TreeMap<>();
    for (String key : List.of("a", "b", "c")) {
      switch (random.nextInt(4)) {
        case 0 -> values.put(key, "");
        case 1 -> values.put(key, "é");
        case 2 -> values.put(key, "x");
        default -> {}
      }
    }
    return values;
  }

  /** Returns the end of the name of a series of an edge with these values. */
  private String name(Map<String, String> client, Map<String, String> server) {
    List<String> values = new ArrayList<>();
    for (Map<String, String> end : List.of(client, server)) {
      dimensions.forEach(key -> values.add(Strings.emptyToNull(end.get(key))));
    }
    return name(values);
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
