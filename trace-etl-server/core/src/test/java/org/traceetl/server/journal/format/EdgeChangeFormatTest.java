package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Limits;
import org.traceetl.server.edge.EdgeHeads;
import org.traceetl.server.edge.Half;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.edge.InconsistentChangeException;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.edge.RandomHalves;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowPanes;

class EdgeChangeFormatTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final long WAIT = 20;
  private static final List<String> DIMENSIONS = List.of("http.route", "service.namespace");

  private final RecordWriter out = new RecordWriter();

  private static OpenEdges newEdges(int capacity, long seed) {
    return newEdges(capacity, seed, DIMENSIONS);
  }

  private static OpenEdges newEdges(int capacity, long seed, List<String> dimensions) {
    return new OpenEdges(capacity, WAIT, 40, dimensions, seed);
  }

  private static QueueImage newImage(int capacity, long seed) {
    return newImage(capacity, seed, DIMENSIONS);
  }

  private static QueueImage newImage(int capacity, long seed, List<String> dimensions) {
    return Windows.newImage().keepEdges(() -> newEdges(capacity, seed, dimensions));
  }

  private static SealedWindow window(EdgeChange change) {
    return Windows.with(
        Windows.window(QUEUE, 0, 1),
        "panes",
        new WindowPanes(15_000, 0, 0, List.of()),
        "edges",
        change);
  }

  private static byte[] encoded(SealedWindow window) {
    RecordWriter out = new RecordWriter();
    WindowFormat.encode(window, out);
    return out.toByteArray();
  }

  private static byte[] encoded(QueueImage image) {
    RecordWriter out = new RecordWriter();
    SnapshotFormat.encode(image, out);
    return out.toByteArray();
  }

  private static SealedWindow decoded(byte[] window) throws MalformedRecordException {
    return WindowFormat.decode(window, 0, window.length, QUEUE);
  }

  private static QueueImage decoded(byte[] snapshot, QueueImage image)
      throws MalformedRecordException {
    SnapshotFormat.decode(snapshot, 0, snapshot.length, image);
    return image;
  }

  /** Texts of a queue's changes, in which halves have their contents instead of numbers. */
  private static final class Texts {
    private final Map<Integer, String> open = new HashMap<>();

    List<String> of(EdgeChange change) {
      List<String> texts = new ArrayList<>();
      for (int number : change.left()) {
        texts.add("left " + open.remove(number));
      }
      for (int number : change.paired()) {
        texts.add("paired " + open.get(number));
      }
      texts.sort(null);
      texts.add("at " + change.streamMillis());
      for (int half = 0; half < change.opened().length; half++) {
        String text =
            change.heads().get(change.headOf()[half])
                + ":"
                + change.keys()[half]
                + ":"
                + change.checks()[half]
                + ":"
                + change.sides()[half]
                + ":"
                + change.durationsNanos()[half]
                + ":"
                + change.committedMillis()[half]
                + ":"
                + change.arrivalMillis()[half];
        open.put(change.opened()[half], text);
        texts.add("opened " + text + ":" + change.hadPartner()[half]);
      }
      return texts;
    }

    static List<String> ofAll(OpenEdges edges) {
      return new Texts().of(edges.all());
    }
  }

  @Property(tries = 200)
  void readersBehaveAsTheOwner(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    int capacity = random.nextInt(1, 14);
    List<String> dimensions = DIMENSIONS.subList(0, random.nextInt(3));
    OpenEdges owner = newEdges(capacity, random.nextLong(), dimensions);
    QueueImage follower = newImage(capacity, random.nextLong(), dimensions);
    QueueImage restored = newImage(capacity, random.nextLong(), dimensions);
    RandomHalves halves = new RandomHalves(random.nextLong(), random.nextLong(1L << 50));
    int windows = random.nextInt(1, 8);
    int snapshot = random.nextInt(windows);
    for (int i = 0; i < windows; i++) {
      halves.offerSome(owner);
      SealedWindow window = window(owner.endWindow());
      assertThat(WindowInvariants.violated(window)).isNull();
      SealedWindow read = decoded(encoded(window));
      assertSame(read.edges(), window.edges());
      follower.apply(read);
      if (i == snapshot) {
        decoded(encoded(follower), restored);
      } else if (i > snapshot) {
        restored.apply(read);
      }
      assertThat(Texts.ofAll(follower.edges())).isEqualTo(Texts.ofAll(owner));
    }
    assertThat(restored.edges().all()).usingRecursiveComparison().isEqualTo(owner.all());

    assertBehavesAs(owner, follower.edges(), restored.edges(), random.nextLong());
  }

  private static void assertBehavesAs(
      OpenEdges owner, OpenEdges follower, OpenEdges restored, long seed) {
    long millis = owner.all().streamMillis();
    List<OpenEdges> all = List.of(owner, follower, restored);
    List<RandomHalves> input = all.stream().map(each -> new RandomHalves(seed, millis)).toList();
    List<Texts> texts = all.stream().map(each -> new Texts()).toList();
    IntStream.range(0, all.size()).forEach(i -> texts.get(i).of(all.get(i).all()));
    for (int window = 0; window < 5; window++) {
      List<String> events = input.get(0).offerSome(owner);
      List<String> change = texts.get(0).of(owner.endWindow());
      for (int i = 1; i < all.size(); i++) {
        assertThat(input.get(i).offerSome(all.get(i))).isEqualTo(events);
        assertThat(texts.get(i).of(all.get(i).endWindow())).isEqualTo(change);
        assertThat(all.get(i).open()).isEqualTo(owner.open());
        for (int side = 1; side <= 4; side++) {
          assertThat(all.get(i).waiting(side)).isEqualTo(owner.waiting(side));
        }
      }
    }
  }

  /** A change is written with its numbers in ascending order. */
  private static void assertSame(EdgeChange read, EdgeChange written) {
    assertThat(read.left()).containsExactly(Arrays.stream(written.left()).sorted().toArray());
    assertThat(read.paired()).containsExactly(Arrays.stream(written.paired()).sorted().toArray());
    assertThat(read).usingRecursiveComparison().ignoringFields("left", "paired").isEqualTo(written);
  }

  /** Returns a change with the halves 0 and {@code last}, in which each number is extreme. */
  private static EdgeChange extremes(int last) {
    return new EdgeChange(
        Long.MAX_VALUE,
        new int[] {last, 0},
        new int[] {last, 0},
        new int[] {last, 0},
        List.of(new EdgeHead("é", true, 3, "", (1L << 56) - 1), new EdgeHead("", false, 0, "é", 0)),
        List.of(),
        new int[] {1, 0},
        new long[] {Long.MIN_VALUE, -1},
        new int[] {0xFFFF, 0},
        new byte[] {4, 1},
        new long[] {Long.MAX_VALUE, 0},
        new long[] {Long.MIN_VALUE, Long.MAX_VALUE},
        new long[] {Limits.MAX_MESSAGE_MICROS, 0},
        new long[] {0, Long.MAX_VALUE},
        new boolean[] {false, true});
  }

  @Test
  void extremeNumbersAreReadAsTheyWereWritten() throws MalformedRecordException {
    EdgeChange change = extremes(HalfTable.MAX_CAPACITY - 1);
    assertThat(WindowInvariants.violated(window(change))).isNull();

    assertSame(decoded(encoded(window(change))).edges(), change);
  }

  @Test
  void tableOfAnyContentFitsARecord() {
    int last = HalfTable.MAX_CAPACITY - 1;
    int halves = 1_000;
    int[] alternating = IntStream.range(0, halves).map(i -> i % 2 == 0 ? 0 : last).toArray();
    int[] heads = new int[halves];
    Arrays.fill(heads, last);
    long[] durations = new long[halves];
    Arrays.fill(durations, Long.MAX_VALUE);
    long[] arrivals = IntStream.range(0, halves).mapToLong(i -> i * (1L << 53)).toArray();
    long[] times = IntStream.range(0, halves).mapToLong(i -> i % 2L << 62).toArray();
    long[] messages = new long[halves];
    Arrays.fill(messages, Limits.MAX_MESSAGE_MICROS);
    EdgeChange largest =
        new EdgeChange(
            Long.MAX_VALUE,
            new int[0],
            new int[0],
            alternating,
            List.of(),
            List.of(),
            heads,
            new long[halves],
            new int[halves],
            producers(halves),
            durations,
            times,
            messages,
            arrivals,
            new boolean[halves]);
    EdgeChangeFormat.write(largest, out);
    assertThat(out.size()).isBetween(halves * 51, halves * EdgeChangeFormat.MAX_HALF_BYTES + 20);

    // A half that leaves takes at most 4 bytes. Half of the record is left for rows.
    long edges =
        EdgeHeads.MAX_BYTES + (long) HalfTable.MAX_CAPACITY * (EdgeChangeFormat.MAX_HALF_BYTES + 4);
    assertThat(edges).isLessThan((long) ChunkFormat.MAX_CHUNKS * ChunkFormat.MAX_PAYLOAD_BYTES);
  }

  private static byte[] producers(int halves) {
    byte[] sides = new byte[halves];
    Arrays.fill(sides, (byte) Half.PRODUCER);
    return sides;
  }

  /** Halves of a second, of a few heads, and with numbers in no order. */
  @Test
  void halfTakesAbout20Bytes() {
    Random random = new Random(1);
    OpenEdges edges = new OpenEdges(100_000, 100_000, 40, List.of(), 1);
    RandomHalves halves = new RandomHalves(1, 1_700_000_000_000L);
    halves.offerSome(edges);
    EdgeChange some = edges.endWindow();
    int size = 10_000;
    byte[] clients = new byte[size];
    Arrays.fill(clients, (byte) Half.CLIENT);
    EdgeChange change =
        new EdgeChange(
            1_700_000_000_000L,
            new int[0],
            new int[0],
            random.ints(size, 0, 100_000).toArray(),
            some.heads(),
            List.of(),
            random.ints(size, 0, some.heads().size()).toArray(),
            random.longs(size).toArray(),
            random.ints(size, 0, 0x10000).toArray(),
            clients,
            random.longs(size, 0, 100_000_000).toArray(),
            random.longs(size, 1_700_000_000_000L - 100, 1_700_000_000_000L).toArray(),
            new long[size],
            random.longs(size, 1_699_999_999_000L, 1_700_000_000_000L).sorted().toArray(),
            new boolean[size]);
    EdgeChangeFormat.write(change, out);

    assertThat(out.size() / size).isLessThan(22);
  }

  @Test
  void windowWithNothingButAChangeIsWritten() throws MalformedRecordException {
    EdgeChange change = extremes(5);
    SealedWindow sealed =
        new WindowMetrics(1, 1, 10, 10, false, false)
            .seal(
                QUEUE,
                0,
                1,
                150_000,
                160_000,
                List.of(),
                new int[0],
                Windows.SCHEMA,
                15_000,
                AcceptedBatches.NONE,
                WindowCompleteness.NONE,
                SealedWindow.UNKNOWN_CLOSED,
                change);
    assertThat(WindowInvariants.violated(sealed)).isNull();

    assertSame(decoded(encoded(sealed)).edges(), change);
  }

  @Test
  void windowOfSpansHasNoHalfEdges() {
    SealedWindow window = window(EdgeChange.NONE);

    assertThat(encoded(window)).endsWith(0); // extensions
    assertThat(encoded(window(extremes(1)))).hasSizeGreaterThan(encoded(window).length);
  }

  @Test
  void numbersAreNotRepeated() {
    EdgeChange change = extremes(0);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EdgeChangeFormat.write(change, out))
        .withMessageContaining("half 0 leaves or is paired twice");
  }

  @Test
  void changeCutShortIsRefused() {
    EdgeChangeFormat.write(extremes(5), out);
    byte[] bytes = out.toByteArray();
    int withoutMessages = bytes.length - 8;
    for (int length = 0; length < bytes.length; length++) {
      if (length == withoutMessages) {
        continue;
      }
      RecordReader torn = new RecordReader(bytes, 0, length);
      assertThatThrownBy(() -> EdgeChangeFormat.read(torn))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  @Test
  void changeOfAnOlderServerHasNoTimesOfMessages() throws MalformedRecordException {
    EdgeChange change = extremes(5);
    EdgeChangeFormat.write(change, out);

    EdgeChange read = EdgeChangeFormat.read(new RecordReader(out.buffer(), 0, out.size() - 8));
    assertThat(read.messageMicros()).containsExactly(0, 0);
    assertThat(read.arrivalMillis()).isEqualTo(change.arrivalMillis());
  }

  private static EdgeChange withDimensions() {
    List<EdgeHead> heads =
        extremes(5).heads().stream().map(head -> head.withValues(List.of("/é", ""))).toList();
    return Windows.with(extremes(5), "dimensions", DIMENSIONS, "heads", heads);
  }

  @Test
  void dimensionsFollowAllThatOlderServersRead() throws MalformedRecordException {
    EdgeChangeFormat.write(extremes(5), out);
    byte[] without = out.toByteArray();
    out.clear();
    EdgeChange change = withDimensions();
    EdgeChangeFormat.write(change, out);
    byte[] with = out.toByteArray();

    assertThat(with).startsWith(without);
    assertSame(EdgeChangeFormat.read(new RecordReader(with, 0, with.length)), change);
    assertSame(EdgeChangeFormat.read(new RecordReader(with, 0, without.length)), extremes(5));
    for (int length = without.length + 1; length < with.length; length++) {
      RecordReader torn = new RecordReader(with, 0, length);
      assertThatThrownBy(() -> EdgeChangeFormat.read(torn))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  @Test
  void tooManyDimensionsAreRefused() {
    begin(9, 0);
    end(0, 1, 9);
    out.unsigned(EdgeChangeFormat.MAX_DIMENSIONS + 1L);
    assertRefused("dimensions = 65");
  }

  @Property(tries = 1_000)
  void damagedChangesAreReadOrRefused(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    OpenEdges owner = newEdges(9, 1);
    RandomHalves halves = new RandomHalves(random.nextInt(50), 1);
    QueueImage image = newImage(9, 1);
    for (int i = 0; i < 3; i++) {
      halves.offerSome(owner);
      image.apply(window(owner.endWindow()));
    }
    halves.offerSome(owner);
    EdgeChangeFormat.write(owner.endWindow(), out);
    byte[] bytes = out.toByteArray();
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    readOrRefuse(bytes, image.edges());

    byte[] snapshot = encoded(image);
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      snapshot[random.nextInt(1, snapshot.length)] = (byte) random.nextInt();
    }
    QueueImage read = newImage(9, 1);
    try {
      decoded(snapshot, read);
      assertThat(read.knowsEdges()).isEqualTo(read.contradictedEdges() == 0);
      decoded(encoded(read), newImage(9, 1));
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageStartingWith("record ");
    }
  }

  @Property(tries = 2_000)
  void anyBytesAreReadOrRefused(@ForAll byte[] bytes) {
    readOrRefuse(bytes, newEdges(9, 1));
  }

  private static void readOrRefuse(byte[] bytes, OpenEdges edges) {
    try {
      EdgeChange change = EdgeChangeFormat.read(new RecordReader(bytes, 0, bytes.length));
      assertThat(WindowInvariants.violated(window(change))).isNull();
      assertSame(decoded(encoded(window(change))).edges(), change);
      edges.apply(change);
    } catch (InconsistentChangeException e) {
      assertThat(e).hasNoCause();
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageStartingWith("record ");
    }
  }

  /** Writes a change with a head and a half, up to the half's place. */
  private void begin(long streamMillis, long place) {
    out.clear();
    out.unsigned(streamMillis);
    out.unsigned(0);
    out.unsigned(0);
    out.unsigned(1);
    out.text("shop");
    out.octet(0);
    out.text("");
    out.unsigned(0);
    out.unsigned(1);
    out.unsigned(place);
    out.fixed(7);
    out.octet(0);
    out.octet(0);
  }

  private void assertRefused(String message) {
    RecordReader in = new RecordReader(out.buffer(), 0, out.size());
    assertThatThrownBy(() -> EdgeChangeFormat.read(in))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining(message);
  }

  private void end(long head, long durationNanos, long arrival) {
    out.unsigned(head);
    out.unsigned(durationNanos);
    out.unsigned(arrival);
    out.signed(0);
  }

  @Test
  void numbersOutOfRangeAreRefused() throws MalformedRecordException {
    begin(9, 0);
    end(0, 1, 9);
    EdgeChange read = EdgeChangeFormat.read(new RecordReader(out.buffer(), 0, out.size()));
    assertThat(read.arrivalMillis()).containsExactly(9);

    begin(0, 0);
    end(0, 1, 0);
    assertRefused("half-edges without a time");
    begin(-1, 0);
    end(0, 1, 0);
    assertRefused("time of half-edges");
    for (long head : new long[] {1, -1}) {
      begin(9, 0);
      end(head, 1, 9);
      assertRefused("head of a half-edge");
    }
    begin(9, 0);
    end(0, -1, 9);
    assertRefused("duration of a half-edge");
    for (long arrival : new long[] {10, -1}) {
      begin(9, 0);
      end(0, 1, arrival);
      assertRefused("step of arrivals");
    }
    begin(9, 1 << 3);
    end(0, 1, 9);
    assertRefused("has half-edge -1");
    begin(9, (long) HalfTable.MAX_CAPACITY << 4);
    end(0, 1, 9);
    assertRefused("has half-edge " + HalfTable.MAX_CAPACITY);
    begin(9, -1);
    end(0, 1, 9);
    assertRefused("step of half-edges");
  }

  @Test
  void numbersOfHalvesAndHeadsOutOfRangeAreRefused() {
    for (int lists = 0; lists < 2; lists++) {
      for (long number : new long[] {HalfTable.MAX_CAPACITY, -1}) {
        out.clear();
        out.unsigned(9);
        if (lists == 1) {
          out.unsigned(0);
        }
        out.unsigned(1);
        out.unsigned(number);
        assertRefused(lists == 0 ? "step of halves that left" : "step of paired halves");
      }
    }
    for (int kind : new int[] {8, 255}) {
      writeHead(kind, 0);
      assertRefused("has a half-edge of connection type " + (kind >>> 1));
    }
    for (long threshold : new long[] {1L << 56, -1}) {
      writeHead(0, threshold);
      assertRefused("sampling threshold");
    }
  }

  private void writeHead(int kind, long threshold) {
    out.clear();
    out.unsigned(9);
    out.unsigned(0);
    out.unsigned(0);
    out.unsigned(1);
    out.text("shop");
    out.octet(kind);
    out.text("");
    out.unsigned(threshold);
    out.unsigned(0);
  }

  @Test
  void countsAreLimitedByTheBytes() {
    for (int lists = 0; lists < 4; lists++) {
      out.clear();
      out.unsigned(9);
      for (int list = 0; list < lists; list++) {
        out.unsigned(0);
      }
      out.unsigned(Integer.MAX_VALUE);
      out.fixed(0);
      assertRefused("must be at most");
    }
  }

  private static void assertViolated(String component, Object value, String message) {
    SealedWindow planted = window(Windows.with(extremes(5), component, value));
    assertThat(WindowInvariants.violated(planted)).contains(message);
    assertThatThrownBy(() -> new RecordPayloads(Windows::newImage).bytes(planted))
        .isInstanceOf(InconsistentWindowException.class);
  }

  @Test
  void inconsistentHalfEdgesAreNotWritten() {
    for (int number : new int[] {-1, HalfTable.MAX_CAPACITY}) {
      assertViolated("left", new int[] {number}, "a half-edge " + number);
      assertViolated("paired", new int[] {number}, "a half-edge " + number);
      assertViolated("opened", new int[] {0, number}, "a half-edge " + number);
    }
    assertViolated("streamMillis", -1L, "half-edges at -1");
    assertViolated("streamMillis", 0L, "half-edges without a time");
    for (String column :
        List.of("keys", "durationsNanos", "committedMillis", "messageMicros", "arrivalMillis")) {
      assertViolated(column, new long[1], "arrays that do not fit its half-edges");
    }
    assertViolated("opened", new int[1], "arrays that do not fit its half-edges");
    assertViolated("headOf", new int[3], "arrays that do not fit its half-edges");
    assertViolated("checks", new int[1], "arrays that do not fit its half-edges");
    assertViolated("sides", new byte[] {1}, "arrays that do not fit its half-edges");
    assertViolated("hadPartner", new boolean[3], "arrays that do not fit its half-edges");
    assertViolated("headOf", new int[] {0, 2}, "head 2");
    assertViolated("headOf", new int[] {0, -1}, "head -1");
    assertViolated("checks", new int[] {0, 0x10000}, "check 65536");
    assertViolated("checks", new int[] {0, -1}, "check -1");
    assertViolated("sides", new byte[] {4, 5}, "side 5");
    assertViolated("sides", new byte[] {4, 0}, "side 0");
    assertViolated("durationsNanos", new long[] {0, -1}, "-1 ns");
    long late = Limits.MAX_MESSAGE_MICROS + 1;
    for (long[] messages : new long[][] {{-1, 0}, {late, 0}, {0, 1}}) {
      assertViolated("messageMicros", messages, "a message at " + (messages[0] + messages[1]));
    }
    assertViolated("arrivalMillis", new long[] {1, 0}, "arrives at 0");
    assertViolated("arrivalMillis", new long[] {-1, 0}, "arrives at -1");
    assertViolated("streamMillis", Long.MAX_VALUE - 1, "arrives at " + Long.MAX_VALUE);
    for (int type : new int[] {-1, 4}) {
      assertViolated("heads", heads(type, 0), "connection type " + type);
    }
    assertViolated("dimensions", DIMENSIONS, "half-edges with 0 values of 2");
    assertViolated(
        "dimensions",
        Collections.nCopies(EdgeChangeFormat.MAX_DIMENSIONS + 1, "k"),
        "half-edges of 65 dimensions");
    for (long threshold : new long[] {-1, 1L << 56}) {
      assertViolated("heads", heads(0, threshold), "threshold " + threshold);
    }
    SealedWindow withoutPanes = Windows.with(window(extremes(5)), "panes", WindowPanes.NONE);
    assertThat(WindowInvariants.violated(withoutPanes)).isEqualTo("half-edges, but no panes");
  }

  private static List<EdgeHead> heads(int type, long threshold) {
    EdgeHead head = new EdgeHead("shop", false, type, "", threshold);
    return List.of(head, head);
  }

  private static QueueImage imageWith(EdgeChange change) {
    QueueImage image = newImage(9, 1);
    image.apply(window(change));
    return image;
  }

  private static EdgeChange someHalves() {
    OpenEdges owner = newEdges(9, 1);
    new RandomHalves(5, 1_000).offerSome(owner);
    return owner.endWindow();
  }

  @Test
  void snapshotIsReadByWhoKeepsNoHalfEdges() throws MalformedRecordException {
    QueueImage image = imageWith(someHalves());
    image.apply(Windows.window(QUEUE, 0, 10, 4, 6));
    byte[] record = encoded(image);
    assertThat(record[0]).isEqualTo((byte) SnapshotFormat.EDGES_VERSION);

    for (QueueImage without : List.of(Windows.newImage(), Windows.newImage().keepPanes())) {
      decoded(record, without);
      assertThat(without.edges()).isNull();
      assertThat(without.to()).isEqualTo(10);
      assertThat(Windows.totals(without)).containsExactly(4, 6, 0);
      assertThat(without.definition(1)).isEqualTo(image.definition(1));
    }
    decoded(record, new RecordPayloads(() -> newImage(9, 1)).newSinkImage());
  }

  @Test
  void snapshotOfAnotherSchemaKeepsHalfEdges() throws MalformedRecordException {
    QueueImage image = imageWith(someHalves());
    QueueImage other =
        new QueueImage(Windows.SCHEMA + 1, 1, 1 << 20).keepEdges(() -> newEdges(9, 2));
    decoded(encoded(image), other);

    assertThat(Texts.ofAll(other.edges())).isEqualTo(Texts.ofAll(image.edges()));
  }

  @Test
  void snapshotBeforeTheFirstMessageHasNoHalfEdges() throws MalformedRecordException {
    QueueImage read = decoded(encoded(newImage(9, 1)), newImage(9, 2));

    assertThat(read.knowsEdges()).isTrue();
    assertThat(read.edges().all().isNone()).isTrue();
  }

  @Test
  void halfEdgesAreUnknownAfterASnapshotWithoutThem() throws MalformedRecordException {
    byte[] record = encoded(Windows.newImage().keepPanes(wereRead -> true));
    QueueImage read = decoded(record, newImage(9, 1));

    assertThat(read.knowsEdges()).isFalse();
    assertThat(read.contradictedEdges()).isZero();
    read.apply(window(someHalves()));
    assertThat(read.edges().open()).isZero();
    assertThat(encoded(read)[0]).isLessThan((byte) SnapshotFormat.EDGES_VERSION);
    read.claimed();
    assertThat(read.knowsEdges()).isTrue();
  }

  @Test
  void halfEdgesThatContradictThemselvesAreUnknown() throws MalformedRecordException {
    EdgeChange forged = Windows.with(someHalves(), "left", new int[] {HalfTable.MAX_CAPACITY - 1});
    QueueImage image = imageWith(forged);

    assertThat(image.knowsEdges()).isFalse();
    assertThat(image.contradictedEdges()).isEqualTo(1);
    assertThat(image.edges().open()).isZero();
    assertThat(image.to()).isEqualTo(1);
  }
}
