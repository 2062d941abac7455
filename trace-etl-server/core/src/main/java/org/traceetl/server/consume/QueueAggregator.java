package org.traceetl.server.consume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.TraceId;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.series.CardinalitySurvey;
import org.traceetl.server.series.HeavyHitters;
import org.traceetl.server.series.RecordingFilter;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.series.Weight;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowMetrics;

/**
 * Aggregates the batches of one queue: decodes, tells repeats, finds each span's series and adds it
 * to the open window. In a steady state it allocates nothing.
 *
 * <p>Concurrency: everything here belongs to the one worker that owns the queue. The only hand-offs
 * are of {@link WindowMetrics}: {@link #swap} gives the filled one away and goes on with the spare
 * one, and {@link QueueSealing} puts it back into {@link #spares} when the journal has the window.
 * The flip happens on the owner's thread between two batches, so no lock is held and none is waited
 * for; if the spare one is not back yet, the window just goes on. At most one window of a queue is
 * under way.
 */
public final class QueueAggregator {
  private static final Logger log = LoggerFactory.getLogger(QueueAggregator.class);
  private static final int STATUS_ERROR = 2;

  /** Where a mapping says it. */
  private static final int STATUS_SLOW = 1;

  private static final int INITIAL_SPANS = 512;
  private static final int NOT_LOOKED_UP = Integer.MIN_VALUE;

  /** Instead of a series: a filter leaves the span out. */
  private static final int FILTERED = -2;

  /** Instead of a series: it is not sought yet. */
  private static final int KNOWN = 0;

  private static final int NONE = -1;

  /** Attribute of a document that has the span's own name, where its series has another one. */
  private static final String RAW_NAME = "span.name";

  private final QueueId queue;
  private final PipelineMetrics listener;
  private final BatchDecoder decoder;
  private final Texts texts;

  /** By a series' kind. */
  private final Buckets[] buckets;

  /** Whether a mapping has said which spans are slow. */
  private final boolean mapped;

  /** Null where there are classic buckets alone. */
  private final NativeBuckets nativeBuckets;

  private final RecordingFilter filter;
  private final AttributeKeys documentKeys;
  private final int maxValueBytes;
  private final long idleMillis;

  private final SpanNames names;
  private final SymbolTable symbols;
  private final Applications applications;
  private final SeriesTable series;
  private final HeavyHitters heavyHitters;
  private final KeyHashes keyHashes;
  private final CardinalitySurvey census;
  private final BatchHistory history;

  private final BlockingQueue<WindowMetrics> spares = new ArrayBlockingQueue<>(1);
  private WindowMetrics open;
  private long openedMillis = -1;

  /** When the last owner was last heard of; 0 without one. */
  private final long ownedUntilMillis;

  private long from;

  /** By text of the batch: its symbol. */
  private int[] symbolOf = new int[256];

  /** By text of the batch: the symbol of what it is called as a span name. */
  private int[] nameOf = new int[256];

  /** Name of the batch's application: see {@link #ownName}. */
  private String application;

  /**
   * By text of the batch: what the filter said to it as a span name. Bit k: it was asked about kind
   * k; bit 16 + k: it leaves it out.
   */
  private int[] verdictOf = new int[256];

  /** Key of a span that has no series yet. */
  private final int[] key;

  // By span or group of the batch
  private int[] keys;
  private int[] hashes;
  private int[] numbers;
  private int[] rows;

  private final long schema;

  // What became of the batch's spans, then of their events
  private int recorded;
  private int overflowed;
  private int filtered;
  private int insane;
  private int heldBack;

  QueueAggregator(
      QueueId queue,
      Aggregation aggregation,
      BatchDecoder decoder,
      PipelineMetrics listener,
      QueueImage image) {
    this.queue = queue;
    this.listener = listener;
    this.decoder = decoder;
    texts = decoder.texts();
    buckets = aggregation.buckets;
    mapped = aggregation.isMapped();
    nativeBuckets = aggregation.nativeBuckets;
    filter = aggregation.filter;
    documentKeys = aggregation.documentKeys;
    maxValueBytes = aggregation.series.maxValueBytes();
    idleMillis = aggregation.idleMillis();
    names = aggregation.newSpanNames();
    symbols =
        new SymbolTable(
            aggregation.series.maxSymbols(), aggregation.series.maxSymbolBytes(), maxValueBytes);
    applications =
        new Applications(
            symbols,
            aggregation.slow,
            aggregation.series.maxApplications(),
            mapped ? SeriesTable.KINDS_AND_STATUSES : SeriesTable.SPANS_AND_EVENTS);
    series = new SeriesTable(aggregation.series, aggregation.budget, symbols, applications, mapped);
    heavyHitters = new HeavyHitters(aggregation.series.maxPerApplication());
    keyHashes = new KeyHashes(texts, names, symbols, series.width() - SeriesTable.DIMENSIONS);
    census =
        new CardinalitySurvey(
            aggregation.series, mapped, series, applications, symbols, heavyHitters);
    restore(image);
    ownedUntilMillis = image.ownedUntilMillis();
    history = image.history();
    from = image.to();
    key = new int[series.width()];
    grow(INITIAL_SPANS);
    schema = aggregation.schema();
    open = aggregation.newMetrics();
    spares.add(aggregation.newMetrics());
  }

  /** What a journal holds may be forged: a series that cannot be this table's is left out. */
  private void restore(QueueImage image) {
    int refused = 0;
    for (int number = 0; number < image.slots(); number++) {
      SeriesDefinition definition = image.definition(number);
      if (definition != null
          && !series.restore(definition, image.touchedMillis(number), image.carry(number))) {
        refused++;
        listener.failed();
      }
    }
    if (refused > 0) {
      log.error(
          "The journal of queue {} has {} series with other dimensions than its schema says, with"
              + " the key of another series, or that are an overflow series which an application"
              + " has or cannot have; they are omitted. Only servers may write to the journal's topic.",
          queue,
          refused);
    }
  }

  /**
   * Aggregates a message.
   *
   * @param nowMillis milliseconds since 1970
   */
  public void accept(byte[] message, long nowMillis) {
    accept(decoder.decode(message, 0, message.length), message.length, nowMillis);
  }

  /**
   * Counts a message that its producer compressed.
   *
   * @param flags the message's system flags
   */
  void acceptCompressed(byte[] body, int flags, long nowMillis) {
    accept(decoder.decodeCompressed(body, flags), body.length, nowMillis);
  }

  /** Counts what was decoded last. */
  private void accept(Rejection rejection, int bytes, long nowMillis) {
    if (openedMillis < 0) {
      begin(nowMillis);
      openedMillis = nowMillis;
    }
    int spans = decoder.declaredSpans();
    if (rejection != Rejection.NONE) {
      int application =
          decoder.application() < 0 ? Applications.UNKNOWN : openApplication(nowMillis);
      open.openBooks(application, applications.name(application));
      open.bookRejected(application, rejection, spans, true);
      listener.rejected(bytes, rejection);
      return;
    }
    int application = openApplication(nowMillis);
    if (decoder.isNamed()
        && !history.isFirst(
            decoder.agentHigh(),
            decoder.agentLow(),
            decoder.epoch(),
            decoder.sequence(),
            nowMillis)) {
      open.bookDuplicate(application, spans);
      listener.duplicate(bytes);
      return;
    }
    record(application, nowMillis);
    open.book(application, spans, recorded, overflowed, filtered, heldBack);
    if (insane > 0) {
      open.bookRejected(application, Rejection.BAD_VALUE, insane, false);
    }
    recordEvents(application, nowMillis);
    listener.accepted(bytes);
  }

  /**
   * Books a message as rejected whose recording fails. Nothing of it is recorded, and its name is
   * not remembered.
   *
   * @param flags the message's system flags, 0 for a body that is not compressed
   */
  void refuse(byte[] body, int flags, long nowMillis) {
    if (openedMillis < 0) {
      begin(nowMillis);
      openedMillis = nowMillis;
    }
    int application = Applications.UNKNOWN;
    int spans = 0;
    try {
      if (flags == 0) {
        decoder.decode(body, 0, body.length);
      } else {
        decoder.decodeCompressed(body, flags);
      }
      spans = decoder.declaredSpans();
      if (decoder.application() >= 0) {
        application = openApplication(nowMillis);
      }
    } catch (RuntimeException e) {
      log.debug("Cannot decode a rejected message of queue {}", queue, e);
    }
    open.openBooks(application, applications.name(application));
    open.bookRejected(application, Rejection.INTERNAL, spans, true);
    listener.rejected(body.length, Rejection.INTERNAL);
  }

  /**
   * The time in which nobody owned the queue does not make its series idle: their spans may be
   * further on in the backlog than the first window goes. A short one cannot, and idle series are
   * to leave in time.
   */
  private void begin(long nowMillis) {
    long unownedMillis = nowMillis - ownedUntilMillis;
    if (ownedUntilMillis > 0 && unownedMillis > idleMillis / 3 * 2) {
      series.postpone(unownedMillis);
    }
  }

  private int openApplication(long nowMillis) {
    int text = decoder.application();
    int application =
        applications.resolve(texts.buffer(text), texts.offset(text), texts.length(text), nowMillis);
    open.openBooks(application, applications.name(application));
    return application;
  }

  private void beginCounts() {
    recorded = 0;
    overflowed = 0;
    filtered = 0;
    insane = 0;
    heldBack = 0;
  }

  /** Finds the series of all entries of the batch, and counts its spans. */
  private void record(int application, long nowMillis) {
    beginCounts();
    int entries = texts.size();
    if (symbolOf.length < entries) {
      symbolOf = new int[Math.max(entries, symbolOf.length * 2)];
      nameOf = new int[symbolOf.length];
      verdictOf = new int[symbolOf.length];
    }
    Arrays.fill(symbolOf, 0, entries, NOT_LOOKED_UP);
    Arrays.fill(nameOf, 0, entries, NOT_LOOKED_UP);
    if (!filter.isEmpty()) {
      Arrays.fill(verdictOf, 0, entries, 0);
    }
    keyHashes.nextBatch();
    int symbol = applications.symbol(application);
    this.application = application == Applications.OTHER ? null : applications.name(application);
    names.nextBatch(names.hasPatterns() ? ownName() : this.application, entries);
    long[] slowNanos = applications.slowNanos(application);
    SpanColumns spans = decoder.columns();
    int size = spans.size();
    if (numbers.length < size) {
      grow(Math.max(size, numbers.length * 2));
    }
    // In columns: while one span waits for memory, the next ones ask for theirs.
    int width = series.width();
    for (int span = 0; span < size; span++) {
      if (spans.kindAndStatus(span) == SpanColumns.NONE) {
        numbers[span] = FILTERED;
        continue;
      }
      boolean known = fillKey(spans, span, symbol, keys, span * width);
      numbers[span] = known ? KNOWN : SeriesTable.NONE;
      hashes[span] = series.hash(keys, span * width);
    }
    for (int span = 0; span < size; span++) {
      if (numbers[span] == KNOWN) {
        numbers[span] = series.find(hashes[span], keys, span * width);
      }
    }
    for (int span = 0; span < size; span++) {
      rows[span] = numbers[span] < 0 ? NONE : open.row(numbers[span]);
    }
    // Reads of each row's memory before any is written to: so they too are under way together. The
    // check keeps the reads from being dropped as unused, and says so if a row is another series'.
    for (int span = 0; span < size; span++) {
      if (rows[span] >= 0 && open.series(rows[span]) != numbers[span]) {
        throw new IllegalStateException(
            "row " + rows[span] + " of " + queue + " is not series " + numbers[span] + "'s");
      }
    }
    for (int span = 0; nativeBuckets != null && span < size; span++) {
      if (rows[span] >= 0 && !open.isNativeSound(rows[span])) {
        throw new IllegalStateException(
            "row " + rows[span] + " of " + queue + " has native buckets and no first one");
      }
    }
    int firstGroup = spans.firstGroup();
    for (int span = 0; span < firstGroup; span++) {
      record(spans, span, application, slowNanos[spans.kind(span)], nowMillis);
    }
    for (int group = firstGroup; group < spans.firstEvent(); group++) {
      recordGroup(spans, group, application, nowMillis);
    }
    if (names.unmatched() > 0) {
      listener.namesUnmatched(names.unmatched());
    }
  }

  /**
   * The own name of the batch's application, also where it shares {@link Applications#OTHER}: there
   * it is made when it is first asked for.
   */
  private String ownName() {
    if (application == null) {
      String name = decoder.text(decoder.application(), maxValueBytes);
      application = name.isEmpty() ? Applications.UNNAMED : name;
    }
    return application;
  }

  private void grow(int spans) {
    keys = new int[spans * series.width()];
    hashes = new int[spans];
    numbers = new int[spans];
    rows = new int[spans];
  }

  private void record(
      SpanColumns spans, int span, int application, long slowNanos, long nowMillis) {
    int row = settle(spans, span, 1, application, nowMillis);
    if (row < 0) {
      return;
    }
    long nanos = spans.durationNanos(span);
    int kindAndStatus = spans.kindAndStatus(span);
    Buckets bounds = buckets[SeriesTable.kind(kindAndStatus)];
    int bucket = count(row, bounds, nanos, spans.samplingThreshold(span));
    int status = SeriesTable.status(kindAndStatus);
    if (status == STATUS_ERROR || (mapped ? status == STATUS_SLOW : nanos >= slowNanos)) {
      keepDocument(spans, span, row, bucket);
    }
    if (open.wantsExemplar(row)) {
      open.keepExemplar(row, bucket, document(spans, span, TraceDocument.Reason.EXEMPLAR));
    }
  }

  /** Counts the spans of a group. None has an identity: there is no document to be made of it. */
  private void recordGroup(SpanColumns spans, int group, int application, long nowMillis) {
    int size = spans.spans(group);
    int row = settle(spans, group, size, application, nowMillis);
    if (row < 0) {
      return;
    }
    long threshold = spans.samplingThreshold(group);
    Buckets bounds = buckets[SeriesTable.kind(spans.kindAndStatus(group))];
    for (int i = 0; i < size; i++) {
      count(row, bounds, spans.groupDurationNanos(group, i), threshold);
    }
  }

  /**
   * Counts the events of the batch's spans, after {@link #record}. They are in no book of spans; an
   * event of a span that stands for others does so too.
   */
  private void recordEvents(int application, long nowMillis) {
    SpanColumns spans = decoder.columns();
    int size = spans.size();
    if (spans.firstEvent() == size) {
      return;
    }
    beginCounts();
    for (int event = spans.firstEvent(); event < size; event++) {
      int count = spans.spans(event);
      int row = settle(spans, event, count, application, nowMillis);
      if (row >= 0) {
        countEvents(row, count, spans.samplingThreshold(event));
      }
    }
    listener.events(recorded, overflowed, filtered + insane);
  }

  /**
   * Finds the series of an entry, and notes what becomes of its spans, or events.
   *
   * @param count how many they are
   * @return the series' row, or {@link #NONE} if they are not counted
   */
  private int settle(SpanColumns spans, int entry, int count, int application, long nowMillis) {
    long threshold = spans.samplingThreshold(entry);
    if (threshold != 0 && !Weight.isSane(threshold)) {
      insane += count;
      return NONE;
    }
    int number = numbers[entry];
    if (number == SeriesTable.NONE) {
      number = newSeries(spans, entry, application, nowMillis);
    }
    if (number == FILTERED) {
      filtered += count;
      return NONE;
    }
    if (number == SeriesTable.NONE) {
      number = series.overflow(application, spans.kindAndStatus(entry), nowMillis);
      overflowed += count;
      countForRoom(spans, entry, count, application);
    } else {
      recorded += count;
    }
    int row = rows[entry];
    return row < 0 ? openRow(number) : row;
  }

  /** Adds a span to a row; answers its bucket. */
  private int count(int row, Buckets bounds, long nanos, long threshold) {
    WindowMetrics metrics = open;
    int bucket = bounds.of(nanos);
    long whole = 1;
    if (threshold == 0) {
      metrics.add(row, bucket, 1, nanos);
    } else {
      int number = metrics.series(row);
      long weight = Weight.of(threshold);
      long owed = weight + series.carry(number);
      series.carry(number, Weight.fraction(owed));
      metrics.carry(row, Weight.fraction(owed));
      whole = Weight.whole(owed);
      metrics.add(row, bucket, whole, Weight.times(weight, nanos));
    }
    if (nativeBuckets != null) {
      metrics.addNative(row, nativeBuckets.of(nanos), whole);
    }
    return bucket;
  }

  /**
   * Adds an event to a row, as often as its spans stand for.
   *
   * @param spans that have it, at most {@link org.traceetl.proto.Limits#MAX_SPANS}: no product
   *     below overflows
   */
  private void countEvents(int row, int spans, long threshold) {
    WindowMetrics metrics = open;
    long whole = spans;
    if (threshold != 0) {
      int number = metrics.series(row);
      long weight = Weight.of(threshold);
      long owed = Weight.fraction(weight) * spans + series.carry(number);
      series.carry(number, Weight.fraction(owed));
      metrics.carry(row, Weight.fraction(owed));
      whole = Weight.whole(weight) * spans + Weight.whole(owed);
    }
    metrics.add(row, buckets[0].of(0), whole, 0);
    if (nativeBuckets != null) {
      metrics.addNative(row, nativeBuckets.of(0), whole);
    }
  }

  /** Spans of applications that find no room have no series of their own to be had. */
  private void countForRoom(SpanColumns spans, int entry, int count, int application) {
    if (application != Applications.OTHER) {
      long threshold = spans.samplingThreshold(entry);
      long each = threshold == 0 ? 1 : Weight.whole(Weight.of(threshold));
      heavyHitters.count(application, keyHashes.of(spans, entry), each * count);
    }
  }

  /** The row of a series that had none when the batch began. */
  private int openRow(int number) {
    int opened = open.row(number);
    if (opened >= 0) {
      return opened;
    }
    if (open.isFull()) {
      WindowMetrics spare = spares.peek();
      if (spare != null) {
        open.takeBlock(spare);
      }
    }
    int row = open.open(number);
    series.touch(number, openedMillis);
    long carry = series.carry(number);
    if (carry != 0) {
      open.carry(row, carry);
    }
    return row;
  }

  /**
   * The series of a span that had none when the batch began, made if need be; {@link
   * SeriesTable#NONE} if there is no room for it, {@link #FILTERED} if it is to have none.
   */
  private int newSeries(SpanColumns spans, int span, int application, long nowMillis) {
    if (fillKey(spans, span, applications.symbol(application), key, 0)) {
      int number = series.find(series.hash(key, 0), key, 0);
      if (number != SeriesTable.NONE) {
        return number;
      }
    }
    return make(spans, span, application, nowMillis);
  }

  /** Asks first: what is left out or finds no room must not fill the symbols with its names. */
  private int make(SpanColumns spans, int span, int application, long nowMillis) {
    if (!filter.isEmpty() && leavesOut(spans, span)) {
      return FILTERED;
    }
    if (application == Applications.OTHER) {
      return SeriesTable.NONE;
    }
    int kept = heavyHitters.kept(application);
    long hash64 = kept == 0 ? 0 : keyHashes.of(spans, span);
    boolean invited = kept > 0 && heavyHitters.isInvited(application, hash64);
    if (!series.hasRoom(application, invited ? 0 : kept, invited ? 0 : heavyHitters.kept())) {
      return SeriesTable.NONE;
    }
    internName(spans.name(span));
    for (int i = SeriesTable.DIMENSIONS; i < key.length; i++) {
      int entry = spans.dimension(span, i - SeriesTable.DIMENSIONS);
      if (entry != SpanColumns.NONE) {
        intern(entry);
      }
    }
    if (!fillKey(spans, span, applications.symbol(application), key, 0)) {
      return SeriesTable.NONE;
    }
    // Entries of the batch that were looked up before any was interned can be one symbol after all:
    // cut or repaired they are the same text.
    int hash = series.hash(key, 0);
    int number = series.find(hash, key, 0);
    if (number == SeriesTable.NONE) {
      number = series.create(hash, key, application, nowMillis);
      if (invited) {
        heavyHitters.took(application, hash64);
      }
    }
    return number;
  }

  private boolean leavesOut(SpanColumns spans, int span) {
    int entry = spans.name(span);
    int kind = spans.kind(span);
    int asked = 1 << kind;
    int left = asked << Short.SIZE;
    if ((verdictOf[entry] & asked) == 0) {
      boolean leavesOut = filter.leavesOut(ownName(), nameText(entry), kind);
      verdictOf[entry] |= leavesOut ? asked | left : asked;
    }
    return (verdictOf[entry] & left) != 0;
  }

  /** Writes a span's key to a place of an array. Whether all its strings have symbols. */
  private boolean fillKey(SpanColumns spans, int span, int application, int[] to, int at) {
    int name = nameSymbol(spans.name(span));
    boolean known = name >= 0;
    to[at + SeriesTable.APPLICATION] = application;
    to[at + SeriesTable.NAME] = name;
    to[at + SeriesTable.KIND_AND_STATUS] = spans.kindAndStatus(span);
    for (int i = SeriesTable.DIMENSIONS; i < key.length; i++) {
      int entry = spans.dimension(span, i - SeriesTable.DIMENSIONS);
      int symbol = entry == SpanColumns.NONE ? SymbolTable.NONE : dimensionSymbol(entry);
      known &= symbol >= SymbolTable.NONE;
      to[at + i] = symbol;
    }
    return known;
  }

  private int nameSymbol(int entry) {
    int symbol = nameOf[entry];
    if (symbol == NOT_LOOKED_UP) {
      resolveName(entry);
      symbol = symbols.find(names.buffer(), names.offset(), names.length());
      nameOf[entry] = symbol;
    }
    return symbol;
  }

  /** Whether it is called otherwise in its series. */
  private boolean resolveName(int entry) {
    return names.resolve(entry, texts.buffer(entry), texts.offset(entry), texts.length(entry));
  }

  private void internName(int entry) {
    if (nameOf[entry] == SymbolTable.ABSENT) {
      resolveName(entry);
      nameOf[entry] = symbols.intern(names.buffer(), names.offset(), names.length());
    }
  }

  /** What a span name is called in its series. Allocates. */
  private String nameText(int entry) {
    resolveName(entry);
    int length = Utf8.cut(names.buffer(), names.offset(), names.length(), maxValueBytes);
    return new String(names.buffer(), names.offset(), length, UTF_8);
  }

  private int symbol(int entry) {
    int symbol = symbolOf[entry];
    return symbol != NOT_LOOKED_UP ? symbol : find(entry);
  }

  /** To Prometheus a label without a value is no label: an empty value counts as none. */
  private int dimensionSymbol(int entry) {
    return texts.length(entry) == 0 ? SymbolTable.NONE : symbol(entry);
  }

  private int find(int entry) {
    int symbol = symbols.find(texts.buffer(entry), texts.offset(entry), texts.length(entry));
    symbolOf[entry] = symbol;
    return symbol;
  }

  private void intern(int entry) {
    if (symbolOf[entry] == SymbolTable.ABSENT) {
      symbolOf[entry] =
          symbols.intern(texts.buffer(entry), texts.offset(entry), texts.length(entry));
    }
  }

  private void keepDocument(SpanColumns spans, int span, int row, int bucket) {
    // Without a trace ID all documents would be one.
    boolean named = (spans.traceIdHigh(span) | spans.traceIdLow(span)) != 0;
    if (!named || !open.admitsDocument(row)) {
      heldBack++;
      return;
    }
    TraceDocument.Reason reason =
        SeriesTable.status(spans.kindAndStatus(span)) == STATUS_ERROR
            ? TraceDocument.Reason.ERROR
            : TraceDocument.Reason.SLOW;
    open.keepDocument(row, bucket, document(spans, span, reason));
  }

  private TraceDocument document(SpanColumns spans, int span, TraceDocument.Reason reason) {
    int message = spans.statusMessage(span);
    int name = spans.name(span);
    Map<String, String> attributes = decoder.documentAttributes(documentKeys, span, maxValueBytes);
    if (resolveName(name)) {
      attributes = new HashMap<>(attributes);
      attributes.put(RAW_NAME, decoder.text(name, maxValueBytes));
      attributes = Map.copyOf(attributes);
    }
    return new TraceDocument(
        TraceId.toHex(spans.traceIdHigh(span), spans.traceIdLow(span)),
        // A trace may have several spans without an ID.
        hex(spans.spanId(span) == 0 ? spans.startUnixNanos(span) : spans.spanId(span)),
        ownName(),
        nameText(name),
        spans.kind(span),
        spans.status(span),
        message == SpanColumns.NONE ? "" : decoder.text(message, maxValueBytes),
        spans.startUnixNanos(span),
        spans.durationNanos(span),
        reason,
        attributes);
  }

  private static String hex(long spanId) {
    return TraceId.toHex(0, spanId).substring(TraceId.HEX_LENGTH / 2);
  }

  /**
   * Begins the first window at this offset, unless the queue has had windows: each window begins
   * where the one before it ended, also where messages are missing between them or the topic was
   * made again.
   */
  public void beginAt(long offset) {
    if (from == JournalLog.NONE) {
      from = offset;
    }
  }

  /**
   * Ends the open window if there is anything in it and its predecessor is back. Series and agents
   * that were idle for long leave with it.
   *
   * @param to offset after the window's last message
   * @return the window, to be sealed; null if it goes on
   */
  public FilledWindow swap(long to, long nowMillis) {
    if (!canSwap()) {
      listener.swapDeferred(queue);
      return null;
    }
    if (openedMillis < 0) {
      begin(nowMillis);
    }
    for (Cardinality crowded : census.take(open, nowMillis)) {
      listener.crowded(queue, crowded);
    }
    boolean lackedSymbols = symbols.lackedRoom();
    int[] evicted = series.evictIdle(nowMillis, idleSinceMillis(nowMillis));
    int displaced = heavyHitters.endWindow(series, open, !lackedSymbols && !symbols.isFull());
    if (displaced > 0) {
      listener.displaced(queue, displaced);
    }
    history.forgetSilent(nowMillis);
    long agentsEvicted = history.takeEvicted();
    if (agentsEvicted > 0) {
      listener.agentsEvicted(queue, agentsEvicted);
    }
    List<SeriesDefinition> created = series.takeCreated();
    FilledWindow filled = null;
    if (to != from || !open.isEmpty() || evicted.length > 0) {
      filled =
          new FilledWindow(
              queue,
              from,
              to,
              openedMillis < 0 ? nowMillis : openedMillis,
              nowMillis,
              created,
              evicted,
              schema,
              history.takeAccepted(),
              open,
              spares);
      // Not before: a failure up to here must not cost the queue its spare one.
      open = spares.remove();
    }
    openedMillis = nowMillis;
    from = to;
    return filled;
  }

  /**
   * Since when series were touched that do not leave with the open window: none that it counts,
   * also where it is longer than series may be idle, or the clock was set.
   */
  private long idleSinceMillis(long nowMillis) {
    long sinceMillis = nowMillis - idleMillis;
    if (!SealedWindow.isLong(openedMillis, nowMillis)) {
      return Math.min(sinceMillis, openedMillis);
    }
    for (int row = 0; row < open.rows(); row++) {
      series.touch(open.series(row), nowMillis);
    }
    return sinceMillis;
  }

  /** Whether the open window's predecessor is back. It stays so until the next {@link #swap}. */
  boolean canSwap() {
    return !spares.isEmpty();
  }

  /** The queue is no longer this process's; what was recorded since the last swap is dropped. */
  void release() {
    series.release();
  }

  int seriesCount() {
    return series.size();
  }

  int symbolCount() {
    return symbols.size();
  }

  int agentCount() {
    return history.agents();
  }
}
