package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.traceetl.proto.Rejection;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.EdgeDecoder;
import org.traceetl.server.edge.EdgeHeads;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.edge.Half;
import org.traceetl.server.edge.Joins;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.edge.Outcome;
import org.traceetl.server.edge.QueueMoves;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.series.HeavyHitters;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Weight;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowMetrics;

/**
 * Joins the half-edges of a queue, and adds edges to the open window. A series is one measure of an
 * edge: its application is the client, its span name the server, its kind the {@link EdgeMeasure}'s
 * number, its status 0, and its dimensions the connection type, then the values of the client, then
 * those of the server. An end without a head has no values.
 *
 * <ul>
 *   <li>A pair counts in the pane of its caller, when its second half arrives.
 *   <li>An immediate half counts in its own pane: a call of a database, or a request to an
 *       application from {@value #USER}.
 *   <li>A half without room counts as dropped, in its own pane.
 *   <li>A half expires by stream time, which is that of {@link StreamClock}: an outage of the
 *       broker expires none. It counts in the pane of the message that shows it: as an edge to a
 *       {@value #VIRTUAL} if it is a caller that names its peer, else as unpaired. If the list of
 *       queues changed, its partner may be in another queue: it counts as moved.
 * </ul>
 *
 * <p>A half is in the books of its application when its outcome is known: as recorded if it counts
 * in an edge or as unpaired. So {@code received} are the halves that are not open any more. The
 * measures of an edge have the weight of the end that was sampled less often.
 *
 * <p>In a steady state it allocates nothing. Confined to the worker that owns the queue.
 */
final class EdgeRecorder implements Recorder, Joins {
  /** Client of a request without a parent. */
  static final String USER = "user";

  /** Connection type of an edge one end of which sends no spans. */
  static final String VIRTUAL = "virtual_node";

  /** Server of a call of a database without a name. */
  private static final String UNKNOWN = "unknown";

  private static final byte[] USER_BYTES = USER.getBytes(UTF_8);
  private static final byte[] UNKNOWN_BYTES = UNKNOWN.getBytes(UTF_8);
  private static final byte[] NO_BYTES = {};

  private static final int CALL = 0;
  private static final int MESSAGE = 1;
  private static final int DATABASE = 2;
  private static final int VIRTUAL_NODE = 3;

  /** By connection type. */
  private static final byte[][] TYPES = {
    NO_BYTES,
    "messaging_system".getBytes(UTF_8),
    "database".getBytes(UTF_8),
    VIRTUAL.getBytes(UTF_8)
  };

  /** Instead of a head: the other end has none. */
  private static final int NO_HEAD = -1;

  private static final int NOT_LOOKED_UP = -2;
  private static final int MEASURES = EdgeMeasure.values().length;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  /** Longest time of a message that counts. */
  private static final long MOST_MICROS = TimeUnit.DAYS.toMicros(7);

  /** Edges of a window whose series are remembered. */
  private static final int MOST_EDGES = 1 << 16;

  private final EdgeDecoder decoder;
  private final QueueWindows windows;
  private final SpanPipelineMetrics listener;
  private final QueueId queue;
  private final QueueSeries series;
  private final HeavyHitters heavyHitters;
  private final OpenEdges edges;
  private final EdgeHeads heads;
  private final Aggregation aggregation;

  /** As of {@link #movesOfQueue}. */
  private QueueMoves moves;

  private QueueMoves.OfQueue movesOfQueue;

  /** Of durations, in all measures that have some. */
  private final Buckets buckets;

  /** Null if only classic buckets are configured. */
  private final NativeBuckets nativeBuckets;

  private final Half half = new Half();

  /** Halves of the batch before this one are prepared. */
  private int prepared;

  /** Of the series that is looked for. */
  private final EdgeTexts texts;

  private final int[] key;
  private long nowMillis;

  /** Store time of the message. */
  private long storedMillis;

  /** Stream time of the take-over; {@link StreamClock#UNKNOWN} before the first message. */
  private long beginMillis = StreamClock.UNKNOWN;

  // Valid until the window ends, because numbers of heads, applications and series are

  /** By head: number of its application + 1; 0 if it was not resolved. */
  private int[] applicationOf = new int[64];

  /** Edges by {@link #edgeKeys}. */
  private final HashIndex index = new HashIndex(64);

  /** By edge: head of the client + 1, head of the server + 1, connection type. */
  private long[] edgeKeys = new long[64];

  /** By edge, as many as there are measures: the series, or {@link #NOT_LOOKED_UP}. */
  private int[] seriesOf = new int[64 * MEASURES];

  /** By edge, as many as there are measures: the pane's turn &lt;&lt; 32 | the row in it. */
  private long[] rowOf = new long[64 * MEASURES];

  private int edgeCount;

  /**
   * @param decoder has the batch that is to be recorded
   * @param windows of the queue
   * @param image has the series and the open halves of earlier windows
   */
  EdgeRecorder(
      QueueId queue,
      Aggregation aggregation,
      EdgeDecoder decoder,
      QueueWindows windows,
      SpanPipelineMetrics listener,
      QueueImage image) {
    this.decoder = decoder;
    this.windows = windows;
    this.listener = listener;
    this.queue = queue;
    heavyHitters = new HeavyHitters(aggregation.series.maxPerApplication());
    series = new QueueSeries(queue, aggregation, windows, listener, image, true);
    this.aggregation = aggregation;
    edges = image.edges();
    heads = edges.heads();
    buckets = aggregation.buckets[0];
    nativeBuckets = aggregation.nativeBuckets;
    texts = new EdgeTexts(aggregation.edgeDimensions());
    key = new int[series.table.width()];
  }

  @Override
  public void begin(long nowMillis) {
    series.begin(nowMillis);
  }

  @Override
  public void advance(long storedMillis, long nowMillis) {
    this.nowMillis = nowMillis;
    this.storedMillis = storedMillis;
    QueueMoves now = aggregation.moves();
    if (now != moves) {
      moves = now;
      movesOfQueue = now.of(queue, aggregation.edgeWaitMillis());
    }
    if (beginMillis == StreamClock.UNKNOWN) {
      long before = edges.streamMillis();
      beginMillis = (before == 0 ? storedMillis : before) - windows.elapsedMillis();
    }
    edges.advance(beginMillis + windows.elapsedMillis(), this);
  }

  /** A batch has halves of several applications. */
  @Override
  public int openApplication(long nowMillis) {
    return Applications.UNKNOWN;
  }

  @Override
  public void reject(int application, Rejection rejection, int halves, int bytes) {
    WindowMetrics window = windows.open();
    window.openBooks(application, series.applications.name(application));
    window.bookRejected(application, rejection, halves, true);
    listener.rejected(bytes, rejection);
  }

  @Override
  public void duplicate(int application, long nowMillis) {
    for (int group = 0; group < decoder.groups(); group++) {
      int its = application(group, nowMillis);
      windows.open().bookDuplicate(its, decoder.end(group) - decoder.begin(group));
    }
  }

  @Override
  public void record(int application, long committedMillis, long nowMillis) {
    this.nowMillis = nowMillis;
    prepared = 0;
    for (int group = 0; group < decoder.groups(); group++) {
      record(group, committedMillis);
    }
  }

  private void record(int group, long committedMillis) {
    int begin = decoder.begin(group);
    int end = decoder.end(group);
    int head = head(group);
    if (head == EdgeHeads.NONE) {
      drop(application(group, nowMillis), group, end - begin, committedMillis);
      return;
    }
    int application = application(head);
    int overflowed = 0;
    int duplicates = 0;
    int side = decoder.side(group);
    for (int i = begin; i < decoder.endOfWaiting(group); i++) {
      if (i >= prepared) {
        prepared = edges.prepare(decoder.keys(), decoder.checks(), i, decoder.halves());
      }
      half.set(
          decoder.key(i),
          decoder.check(i),
          side,
          head,
          decoder.durationNanos(i),
          committedMillis,
          decoder.messageMicros(i));
      Outcome outcome = edges.offer(half, this);
      overflowed += outcome == Outcome.OVERFLOWED ? 1 : 0;
      duplicates += outcome == Outcome.DUPLICATE ? 1 : 0;
    }
    if (overflowed > 0) {
      drop(application, group, overflowed, committedMillis);
    }
    if (duplicates > 0) {
      windows.open().bookDuplicate(application, duplicates);
    }
    recordImmediate(group, head, committedMillis);
  }

  /** Counts halves of a group for which there is no room. */
  private void drop(int application, int group, int halves, long committedMillis) {
    windows.turnTo(committedMillis);
    boolean isCaller = isCaller(decoder.side(group));
    texts.set(NO_BYTES, TYPES[CALL]);
    texts.add(decoder.buffer(), decoder.slices(), decoder.values(group), !isCaller);
    EdgeMeasure measure = isCaller ? EdgeMeasure.DROPPED_CLIENT : EdgeMeasure.DROPPED_SERVER;
    int row = series.row(find(application, measure));
    for (int i = 0; i < halves; i++) {
      series.count(row, buckets, nativeBuckets, 0, decoder.samplingThreshold(group));
    }
    windows.open().countSpans(halves);
    windows.open().book(application, halves, 0, halves, 0, 0);
  }

  private void recordImmediate(int group, int head, long committedMillis) {
    int from = decoder.endOfWaiting(group);
    int end = decoder.end(group);
    if (from == end) {
      return;
    }
    windows.turnTo(committedMillis);
    boolean isCaller = isCaller(decoder.side(group));
    int edge =
        isCaller
            ? edge(
                head, NO_HEAD, decoder.connectionType(group) == DATABASE ? DATABASE : VIRTUAL_NODE)
            : edge(NO_HEAD, head, VIRTUAL_NODE);
    EdgeMeasure own = isCaller ? EdgeMeasure.CLIENT : EdgeMeasure.SERVER;
    long threshold = decoder.samplingThreshold(group);
    for (int i = from; i < end; i++) {
      countRequest(edge, decoder.isFailed(group), threshold);
      count(edge, own, decoder.durationNanos(i), threshold);
    }
    bookRecorded(head, end - from);
  }

  @Override
  public void paired(Half caller, Half callee) {
    windows.turnTo(caller.pane());
    int from = caller.head();
    int to = callee.head();
    boolean isMessage =
        caller.side() == Half.PRODUCER
            || callee.side() == Half.CONSUMER
            || heads.connectionType(from) == MESSAGE
            || heads.connectionType(to) == MESSAGE;
    long threshold = Math.max(heads.samplingThreshold(from), heads.samplingThreshold(to));
    int edge = edge(from, to, isMessage ? MESSAGE : CALL);
    countRequest(edge, heads.isFailed(from) || heads.isFailed(to), threshold);
    count(edge, EdgeMeasure.SERVER, callee.durationNanos(), threshold);
    count(edge, EdgeMeasure.CLIENT, caller.durationNanos(), threshold);
    if (isMessage) {
      countMessage(edge, caller, callee, threshold);
    } else {
      // Clocks do not matter, but a server may go on after its answer.
      long between = Math.max(0, caller.durationNanos() - callee.durationNanos());
      count(edge, EdgeMeasure.LATENCY, between, threshold);
    }
    bookRecorded(to, 1);
    if (!caller.isPaired()) {
      bookRecorded(from, 1);
    }
  }

  /**
   * Unless a time is unknown, or the clocks differ by more; also if a message took more than a
   * week, as one of a sender whose clock was not set.
   */
  private void countMessage(int edge, Half sender, Half receiver, long threshold) {
    long micros = receiver.messageMicros() - sender.messageMicros();
    if (sender.messageMicros() > 0 && micros >= 0 && micros <= MOST_MICROS) {
      count(edge, EdgeMeasure.MESSAGING, TimeUnit.MICROSECONDS.toNanos(micros), threshold);
    }
  }

  @Override
  public void expired(Half open) {
    if (open.isPaired()) {
      return;
    }
    windows.turnTo(storedMillis);
    int head = open.head();
    long threshold = heads.samplingThreshold(head);
    boolean isCaller = isCaller(open.side());
    boolean isMoved = movesOfQueue.isMoved(open.key(), open.pane());
    if (isCaller && !isMoved && heads.peer(head).length > 0) {
      int edge = edge(head, NO_HEAD, VIRTUAL_NODE);
      countRequest(edge, heads.isFailed(head), threshold);
      count(edge, EdgeMeasure.CLIENT, open.durationNanos(), threshold);
    } else {
      int type = heads.connectionType(head) == MESSAGE ? MESSAGE : CALL;
      count(edge(head, head, type), unpaired(isCaller, isMoved), 0, threshold);
      windows.open().countSpans(1);
    }
    bookRecorded(head, 1);
  }

  private static EdgeMeasure unpaired(boolean isCaller, boolean isMoved) {
    if (isMoved) {
      return isCaller ? EdgeMeasure.MOVED_CLIENT : EdgeMeasure.MOVED_SERVER;
    }
    return isCaller ? EdgeMeasure.UNPAIRED_CLIENT : EdgeMeasure.UNPAIRED_SERVER;
  }

  private static boolean isCaller(int side) {
    return side == Half.CLIENT || side == Half.PRODUCER;
  }

  private void countRequest(int edge, boolean failed, long threshold) {
    count(edge, EdgeMeasure.REQUESTS, 0, threshold);
    if (failed) {
      count(edge, EdgeMeasure.FAILED, 0, threshold);
    }
    windows.open().countSpans(1);
  }

  private void count(int edge, EdgeMeasure measure, long nanos, long threshold) {
    int at = edge * MEASURES + measure.ordinal();
    boolean isKnown = (int) (rowOf[at] >>> Integer.SIZE) == windows.pane().turn();
    int row = isKnown ? (int) rowOf[at] : row(edge, measure, threshold);
    series.count(row, buckets, nativeBuckets, nanos, threshold);
  }

  /** Returns the row of an edge's measure, or its overflow series, in the current pane. */
  private int row(int edge, EdgeMeasure measure, long threshold) {
    int number = series(edge, measure);
    int row = series.row(number);
    if (series.table.isOverflow(number)) {
      countForRoom(edge, measure, threshold);
    } else {
      long turn = windows.pane().turn();
      rowOf[edge * MEASURES + measure.ordinal()] = turn << Integer.SIZE | row;
    }
    return row;
  }

  /** Counts an edge without room, unless its application has no room for any series. */
  private void countForRoom(int edge, EdgeMeasure measure, long threshold) {
    long edgeKey = edgeKeys[edge];
    int application = client(edgeKey);
    if (application != Applications.OTHER) {
      setTexts(edgeKey, measure);
      heavyHitters.count(
          application, hash(measure), threshold == 0 ? 1 : Weight.whole(Weight.of(threshold)));
    }
  }

  /** Returns the head of a group of the decoded batch; {@link EdgeHeads#NONE} without room. */
  private int head(int group) {
    return heads.find(
        decoder.buffer(),
        decoder.slices(),
        decoder.slices(group),
        decoder.isFailed(group),
        decoder.connectionType(group),
        decoder.samplingThreshold(group));
  }

  /** Returns the application of a group of the decoded batch, and opens its books. */
  private int application(int group, long nowMillis) {
    return opened(
        series.applications.resolve(
            decoder.buffer(),
            decoder.applicationOffset(group),
            decoder.applicationLength(group),
            nowMillis));
  }

  private int opened(int application) {
    windows.open().openBooks(application, series.applications.name(application));
    return application;
  }

  private void bookRecorded(int head, int halves) {
    windows.open().bookRecorded(application(head), halves);
  }

  /** Returns the application of a head, and opens its books. */
  private int application(int head) {
    if (head >= applicationOf.length) {
      applicationOf = Arrays.copyOf(applicationOf, Math.max(head + 1, 2 * applicationOf.length));
    }
    if (applicationOf[head] == 0) {
      byte[] name = heads.application(head);
      applicationOf[head] =
          opened(series.applications.resolve(name, 0, name.length, nowMillis)) + 1;
    }
    return applicationOf[head] - 1;
  }

  /**
   * Returns an edge.
   *
   * @param from head of the client, or {@link #NO_HEAD}
   * @param to head of the server, or {@link #NO_HEAD}
   */
  private int edge(int from, int to, int type) {
    long edgeKey = (from + 1L) << 32 | (to + 1L) << 2 | type;
    long mixed = edgeKey * MIX;
    int hash = (int) (mixed ^ mixed >>> 32);
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash) && edgeKeys[index.number(slot)] == edgeKey) {
        return index.number(slot);
      }
    }
    if (edgeCount == MOST_EDGES) {
      forgetEdges();
    }
    if (edgeCount == edgeKeys.length) {
      edgeKeys = Arrays.copyOf(edgeKeys, 2 * edgeCount);
      seriesOf = Arrays.copyOf(seriesOf, 2 * edgeCount * MEASURES);
      rowOf = Arrays.copyOf(rowOf, 2 * edgeCount * MEASURES);
    }
    int edge = edgeCount++;
    edgeKeys[edge] = edgeKey;
    Arrays.fill(seriesOf, edge * MEASURES, (edge + 1) * MEASURES, NOT_LOOKED_UP);
    Arrays.fill(rowOf, edge * MEASURES, (edge + 1) * MEASURES, 0);
    index.add(hash, edge);
    return edge;
  }

  private void forgetEdges() {
    index.clear();
    edgeCount = 0;
  }

  private int series(int edge, EdgeMeasure measure) {
    int at = edge * MEASURES + measure.ordinal();
    if (seriesOf[at] == NOT_LOOKED_UP) {
      seriesOf[at] = find(edgeKeys[edge], measure);
    }
    return seriesOf[at];
  }

  /** Returns or creates the series of an edge's measure; without room, the overflow series. */
  private int find(long edgeKey, EdgeMeasure measure) {
    setTexts(edgeKey, measure);
    return find(client(edgeKey), measure);
  }

  private void setTexts(long edgeKey, EdgeMeasure measure) {
    int from = from(edgeKey);
    int to = to(edgeKey);
    texts.set(server(from, to, measure), TYPES[(int) edgeKey & 3]);
    // A measure of one end has the same head at both.
    if (from != NO_HEAD && !measure.isOfServer()) {
      texts.add(heads, from, false);
    }
    if (to != NO_HEAD && (!measure.isOfOneEnd() || measure.isOfServer())) {
      texts.add(heads, to, true);
    }
  }

  private static int from(long edgeKey) {
    return (int) (edgeKey >>> 32) - 1;
  }

  private static int to(long edgeKey) {
    return (int) edgeKey / 4 - 1;
  }

  /** Returns the application whose series an edge is. */
  private int client(long edgeKey) {
    int from = from(edgeKey);
    byte[] name = from == NO_HEAD ? USER_BYTES : heads.application(from);
    return series.applications.resolve(name, 0, name.length, nowMillis);
  }

  private byte[] server(int from, int to, EdgeMeasure measure) {
    if (measure.isOfOneEnd()) {
      return NO_BYTES;
    }
    return to == NO_HEAD ? peer(from) : heads.application(to);
  }

  /**
   * Returns or creates the series of an application with these {@link #texts}; without room, its
   * overflow series.
   */
  private int find(int application, EdgeMeasure measure) {
    SymbolTable symbols = series.symbols;
    SeriesTable table = series.table;
    int kindAndStatus = SeriesTable.kindAndStatus(measure.kind(), 0);
    key[SeriesTable.APPLICATION] = series.applications.symbol(application);
    key[SeriesTable.KIND_AND_STATUS] = kindAndStatus;
    boolean isKnown = texts.find(symbols, key);
    int number = isKnown ? table.find(table.hash(key, 0), key, 0) : SeriesTable.NONE;
    if (number != SeriesTable.NONE) {
      return number;
    }
    int kept = heavyHitters.kept(application);
    long hash64 = kept == 0 ? 0 : hash(measure);
    boolean invited = kept > 0 && heavyHitters.isInvited(application, hash64);
    // Checked first, so that refused edges do not fill the symbol table.
    if (application != Applications.OTHER
        && table.hasRoom(application, invited ? 0 : kept, invited ? 0 : heavyHitters.kept())) {
      boolean haveRoom = texts.intern(symbols, key);
      int hash = table.hash(key, 0);
      if (haveRoom) {
        // After truncation or repair, two texts may be the same symbol.
        int equal = table.find(hash, key, 0);
        if (equal != SeriesTable.NONE) {
          return equal;
        }
        if (invited) {
          heavyHitters.took(application, hash64);
        }
        return table.create(hash, key, application, nowMillis);
      }
    }
    return table.overflow(application, kindAndStatus, nowMillis);
  }

  /** Returns the hash of what a series has in addition to its application. */
  private long hash(EdgeMeasure measure) {
    long mixed = (texts.hash(series.symbols) ^ measure.kind()) * MIX;
    return mixed ^ mixed >>> 32;
  }

  private byte[] peer(int head) {
    byte[] peer = heads.peer(head);
    return peer.length == 0 ? UNKNOWN_BYTES : peer;
  }

  @Override
  public int[] endWindow(long nowMillis, boolean isEarly) {
    Arrays.fill(applicationOf, 0);
    forgetEdges();
    WindowMetrics ending = windows.open();
    boolean lackedSymbols = series.symbols.lackedRoom();
    int[] evicted = series.evictIdle(ending, nowMillis);
    if (isEarly) {
      heavyHitters.endEarly(ending);
    } else {
      boolean mayInvite = !lackedSymbols && !series.symbols.isFull();
      int displaced = heavyHitters.endWindow(series.table, ending, mayInvite);
      if (displaced > 0) {
        listener.displaced(queue, displaced);
      }
    }
    return evicted;
  }

  @Override
  public List<SeriesDefinition> takeCreated() {
    return series.takeCreated();
  }

  @Override
  public EdgeChange takeEdges() {
    return edges.endWindow();
  }

  @Override
  public void release() {
    series.table.release();
  }

  @Override
  public int seriesCount() {
    return series.table.size();
  }

  @Override
  public int symbolCount() {
    return series.symbols.size();
  }

  @Override
  public int openHalves() {
    return edges.open();
  }
}
