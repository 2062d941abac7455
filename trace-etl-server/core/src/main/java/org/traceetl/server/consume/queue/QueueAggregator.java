package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.TraceId;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
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
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowRows;

/**
 * Aggregates the batches of one queue: decodes them, detects repeats, finds each span's series and
 * adds the span to the open window. In a steady state it allocates nothing.
 *
 * <p>Concurrency: confined to the worker that owns the queue. Only {@link WindowMetrics} change
 * hands. {@link #swap} gives the filled one away and continues with the spare one; {@link
 * QueueSealing} returns it to {@link #spares} when the journal has the window. The swap happens
 * between two batches and never blocks: if the spare one is not back yet, the window continues. At
 * most one window of a queue is being sealed.
 */
public final class QueueAggregator {
  private static final Logger log = LoggerFactory.getLogger(QueueAggregator.class);
  private static final int STATUS_ERROR = 2;

  /** Set by a mapping. */
  private static final int STATUS_SLOW = 1;

  private static final int INITIAL_SPANS = 512;
  private static final int NOT_LOOKED_UP = Integer.MIN_VALUE;

  /** Instead of a series: a filter excludes the span. */
  private static final int FILTERED = -2;

  /** Instead of a series: the lookup is still to be done. */
  private static final int KNOWN = 0;

  private static final int NONE = -1;

  /** Number of panes from which on the open window should end early. */
  private static final int CROWDED_PANES = 16;

  /** Minimum age of a window that ends early because of its number of panes. */
  private static final long CROWDED_MILLIS = 1_000;

  /**
   * For how long after the take-over windows wait until it is known whether their panes may be
   * written.
   */
  private static final long MOST_AWAITED_MILLIS = 60_000;

  /**
   * Maximum distance of a pane from the begin of its window: nine years. A journal refuses windows
   * with panes that are ten years away.
   */
  private static final long MAX_PANE_DISTANCE_MILLIS = TimeUnit.DAYS.toMillis(9 * 365);

  /** Attribute of a document with the span's original name, if its series has another one. */
  private static final String RAW_NAME = "span.name";

  private final QueueId queue;
  private final Aggregation aggregation;
  private final SpanPipelineMetrics listener;
  private final BatchDecoder decoder;
  private final Texts texts;

  /** Buckets by kind of series. */
  private final Buckets[] buckets;

  /** Whether a mapping determines which spans are slow. */
  private final boolean mapped;

  /** Null if only classic buckets are configured. */
  private final NativeBuckets nativeBuckets;

  private final boolean hasSizes;

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
  private final StreamClock clock = new StreamClock();

  /** Null if no targets are shown. */
  private final QueueTargets targets;

  private final AgentMarks marks;
  private final PaneClosing closing;

  /** Time without a message until the last window; it passes when the journal has that window. */
  private long silentMillis;

  private final BlockingQueue<WindowMetrics> spares = new ArrayBlockingQueue<>(1);
  private WindowMetrics open;

  /** The rows of the batch's pane in the open window; null before the window's first batch. */
  private WindowRows pane;

  /** Begin of that pane, milliseconds since 1970. */
  private long paneStartMillis;

  /** Length of a pane of the open window; 0 if it does not keep panes. */
  private long paneMillis;

  /** Whether it was permitted to write the panes of the open window when it began. */
  private boolean panesPermitted;

  private long openedMillis = -1;

  /** When the first window began. */
  private long begunMillis;

  /** When the previous owner last wrote to the journal; 0 without one. */
  private final long ownedUntilMillis;

  /** Whether the journal had windows with panes at the take-over. */
  private final boolean panesInJournal;

  private long from;

  /** Symbol of each text of the batch. */
  private int[] symbolOf = new int[256];

  /** Symbol of each text of the batch when used as a span name. */
  private int[] nameOf = new int[256];

  /** Name of the batch's application: see {@link #ownName}. */
  private String application;

  /**
   * Filter results for each text of the batch when used as a span name. Bit k: kind k was checked;
   * bit 16 + k: it is excluded.
   */
  private int[] verdictOf = new int[256];

  /** Key of a span that has no series yet. */
  private final int[] key;

  // By entry of the batch
  private int[] keys;
  private int[] hashes;
  private int[] numbers;
  private int[] rows;

  private final BatchAges noAges = new BatchAges();

  private final long schema;

  // Outcomes of the batch's spans, later of their events
  private int recorded;
  private int overflowed;
  private int filtered;
  private int insane;
  private int heldBack;

  /** Spans in groups with a dimension that was not sent. */
  private int dimensionsNotSent;

  /** Slow spans in groups that a demand made. */
  private int documentsNotSent;

  QueueAggregator(
      QueueId queue,
      Aggregation aggregation,
      BatchDecoder decoder,
      SpanPipelineMetrics listener,
      QueueImage image) {
    this.queue = queue;
    this.aggregation = aggregation;
    this.listener = listener;
    this.decoder = decoder;
    texts = decoder.texts();
    buckets = aggregation.buckets;
    mapped = aggregation.isMapped();
    nativeBuckets = aggregation.nativeBuckets;
    hasSizes = aggregation.hasSizes;
    filter = aggregation.filter;
    documentKeys = aggregation.documentKeys;
    maxValueBytes = aggregation.series.maxValueBytes();
    idleMillis = aggregation.idleMillis();
    names = aggregation.newSpanNames();
    symbols = aggregation.newSymbols();
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
    targets = aggregation.newTargets(queue);
    restore(image);
    ownedUntilMillis = image.ownedUntilMillis();
    panesInJournal = image.hasPanes();
    history = image.history();
    marks = new AgentMarks(aggregation.silenceMillis(), clock);
    marks.restore(image.completeness(), history, image.streamBegan(aggregation.silenceMillis()));
    closing = closing(image);
    from = image.to();
    key = new int[series.width()];
    grow(INITIAL_SPANS);
    schema = aggregation.schema();
    open = aggregation.newMetrics();
    spares.add(aggregation.newMetrics());
  }

  private PaneClosing closing(QueueImage image) {
    if (image.closedMillis() != SealedWindow.UNKNOWN_CLOSED) {
      clock.restore(image.closedMillis());
    }
    return new PaneClosing(
        aggregation.graceMillis(), clock, image.closedMillis(), image.countedMillis());
  }

  /** Restores the series; skips those of a forged journal that cannot be this table's. */
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
              + " has or cannot have; they are omitted. Only servers may write to the journal's"
              + " topic.",
          queue,
          refused);
    }
  }

  /**
   * Aggregates a message that was stored now, without ages.
   *
   * @param nowMillis milliseconds since 1970
   */
  public void accept(byte[] message, long nowMillis) {
    accept(message, nowMillis, nowMillis, noAges);
  }

  /**
   * Aggregates a message. Each batch of a bundle counts as if it were a message.
   *
   * @param nowMillis milliseconds since 1970
   * @param storedMillis when the broker stored the message, milliseconds since 1970
   * @param ages of its batches
   */
  public void accept(byte[] message, long nowMillis, long storedMillis, BatchAges ages) {
    marks.message(storedMillis, ages);
    if (decoder.isBundle(message)) {
      acceptBundle(message, nowMillis, storedMillis, ages);
    } else {
      accept(
          decoder.decode(message, 0, message.length),
          message.length,
          nowMillis,
          storedMillis - ages.of(0));
    }
  }

  /** Returns whether a message is a heartbeat, valid or not. */
  boolean isHeartbeat(byte[] message) {
    return decoder.isHeartbeat(message);
  }

  /**
   * Reads a heartbeat.
   *
   * @param storedMillis when the broker stored it, milliseconds since 1970
   * @param ages have the age from which batches may be missing
   */
  void acceptHeartbeat(byte[] message, long storedMillis, BatchAges ages) {
    marks.message(storedMillis, ages);
    Heartbeat heartbeat = Heartbeat.read(message).orElse(null);
    listener.heartbeat(heartbeat != null);
    if (heartbeat == null) {
      return;
    }
    long high = heartbeat.agentHigh();
    long low = heartbeat.agentLow();
    // Agents without remembered batches cannot hold back the queue; they could be any number.
    int agent = history.find(high, low);
    if (agent == BatchHistory.NONE) {
      return;
    }
    if (heartbeat.goodbye()) {
      marks.goodbye(agent, high, low);
    } else {
      marks.from(agent, high, low);
      marks.host(agent, high, low, heartbeat.host());
    }
  }

  private void acceptBundle(byte[] message, long nowMillis, long storedMillis, BatchAges ages) {
    BundleReader bundle = decoder.bundle();
    Rejection rejection = bundle.wrap(message, 0, message.length);
    if (rejection != Rejection.NONE) {
      beginWindow(nowMillis);
      reject(Applications.UNKNOWN, rejection, bundle.declaredSpans(), message.length);
      return;
    }
    for (int part = 0; part < bundle.count(); part++) {
      accept(
          decoder.decodeBundled(message, part),
          bundle.length(part),
          nowMillis,
          storedMillis - ages.of(part));
    }
  }

  /**
   * Aggregates a message that its producer compressed.
   *
   * @param flags the message's system flags
   * @param storedMillis when the broker stored the message, milliseconds since 1970
   * @param ages of its batches
   */
  void acceptCompressed(byte[] body, int flags, long nowMillis, long storedMillis, BatchAges ages) {
    marks.message(storedMillis, ages);
    accept(
        decoder.decodeCompressed(body, flags), body.length, nowMillis, storedMillis - ages.of(0));
  }

  /**
   * Counts the batch or span that was just decoded.
   *
   * @param committedMillis when the agent accepted it, by the broker's clock
   */
  private void accept(Rejection rejection, int bytes, long nowMillis, long committedMillis) {
    beginWindow(nowMillis);
    int spans = decoder.declaredSpans();
    if (rejection != Rejection.NONE) {
      int application =
          decoder.application() < 0 ? Applications.UNKNOWN : openApplication(nowMillis);
      reject(application, rejection, spans, bytes);
      return;
    }
    int application = openApplication(nowMillis);
    if (decoder.isNamed() && !isFirst(nowMillis)) {
      open.bookDuplicate(application, spans);
      listener.duplicate(bytes);
      return;
    }
    turnTo(committedMillis);
    record(application, nowMillis);
    open.countSpans(recorded + overflowed);
    open.book(application, spans, recorded, overflowed, filtered, heldBack);
    if (insane > 0) {
      open.bookRejected(application, Rejection.BAD_VALUE, insane, false);
    }
    if (dimensionsNotSent + documentsNotSent > 0) {
      listener.notSent(dimensionsNotSent, documentsNotSent);
    }
    recordEvents(application, nowMillis);
    if (targets != null) {
      targets.see(decoder, nowMillis);
    }
    listener.accepted(bytes);
  }

  /** Records the batch and its agent; returns false if the batch was recorded before. */
  private boolean isFirst(long nowMillis) {
    long high = decoder.agentHigh();
    long low = decoder.agentLow();
    boolean first = history.isFirst(high, low, decoder.epoch(), decoder.sequence(), nowMillis);
    marks.from(history.latest(), high, low);
    return first;
  }

  /** Chooses the pane in which the batch's spans and events are counted. */
  private void turnTo(long committedMillis) {
    if (pane == null) {
      // For the whole window, so that it has either all panes or one without a time.
      paneMillis = aggregation.keepsPanes() ? aggregation.paneMillis() : 0;
      panesPermitted = aggregation.writesPanes(panesInJournal);
      paneStartMillis = paneMillis == 0 ? 0 : paneStart(committedMillis);
      pane = open.pane(paneStartMillis);
    } else if (paneMillis != 0
        && (committedMillis < paneStartMillis || committedMillis - paneStartMillis >= paneMillis)) {
      paneStartMillis = paneStart(committedMillis);
      pane = open.pane(paneStartMillis);
    }
  }

  private long paneStart(long committedMillis) {
    long limited =
        Math.clamp(
            committedMillis,
            openedMillis - MAX_PANE_DISTANCE_MILLIS,
            openedMillis + MAX_PANE_DISTANCE_MILLIS);
    return Math.floorDiv(limited, paneMillis) * paneMillis;
  }

  private void beginWindow(long nowMillis) {
    if (openedMillis < 0) {
      begin(nowMillis);
      openedMillis = nowMillis;
    }
  }

  private void reject(int application, Rejection rejection, int spans, int bytes) {
    open.openBooks(application, applications.name(application));
    open.bookRejected(application, rejection, spans, true);
    listener.rejected(bytes, rejection);
  }

  /**
   * Books a message whose recording fails as rejected, with all batches of a bundle. Nothing of it
   * is recorded, and its names are not remembered.
   *
   * @param flags the message's system flags, 0 for an uncompressed body
   */
  void refuse(byte[] body, int flags, long nowMillis) {
    beginWindow(nowMillis);
    if (flags != 0 || !decoder.isBundle(body)) {
      refuse(() -> decode(body, flags), body.length, nowMillis);
      return;
    }
    BundleReader bundle = decoder.bundle();
    if (bundle.wrap(body, 0, body.length) != Rejection.NONE) {
      reject(Applications.UNKNOWN, Rejection.INTERNAL, bundle.declaredSpans(), body.length);
    }
    for (int i = 0; i < bundle.count(); i++) {
      int part = i;
      refuse(() -> decoder.decodeBundled(body, part), bundle.length(part), nowMillis);
    }
  }

  private void decode(byte[] body, int flags) {
    if (flags == 0) {
      decoder.decode(body, 0, body.length);
    } else {
      decoder.decodeCompressed(body, flags);
    }
  }

  private void refuse(Runnable decode, int bytes, long nowMillis) {
    int application = Applications.UNKNOWN;
    int spans = 0;
    try {
      decode.run();
      spans = decoder.declaredSpans();
      if (decoder.application() >= 0) {
        application = openApplication(nowMillis);
      }
    } catch (RuntimeException e) {
      log.debug("Cannot decode a rejected message of queue {}", queue, e);
    }
    reject(application, Rejection.INTERNAL, spans, bytes);
  }

  /**
   * Keeps series alive after a long time without an owner: their spans may be in the backlog behind
   * the first window. After a short time that is impossible, and idle series must leave in time.
   */
  private void begin(long nowMillis) {
    begunMillis = nowMillis;
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
    dimensionsNotSent = 0;
    documentsNotSent = 0;
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
    // Work in columns, so that the memory accesses of several spans overlap.
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
      rows[span] = numbers[span] < 0 ? NONE : pane.row(numbers[span]);
    }
    // Reads each row's memory before any write, so that these accesses overlap as well. The check
    // prevents the compiler from removing the reads, and detects a row of another series.
    for (int span = 0; span < size; span++) {
      if (rows[span] >= 0 && pane.series(rows[span]) != numbers[span]) {
        throw new IllegalStateException(
            "row " + rows[span] + " of " + queue + " is not series " + numbers[span] + "'s");
      }
    }
    for (int span = 0; nativeBuckets != null && span < size; span++) {
      if (rows[span] >= 0 && !pane.isNativeSound(rows[span])) {
        throw new IllegalStateException(
            "row " + rows[span] + " of " + queue + " has native buckets and no first one");
      }
    }
    int firstGroup = spans.firstGroup();
    for (int span = 0; span < firstGroup; span++) {
      record(spans, span, application, slowNanos[spans.kind(span)], nowMillis);
    }
    for (int group = firstGroup; group < spans.firstEvent(); group++) {
      recordGroup(spans, group, application, slowNanos[spans.kind(group)], nowMillis);
    }
    if (names.unmatched() > 0) {
      listener.namesUnmatched(names.unmatched());
    }
  }

  /**
   * Returns the batch's own application name, even if it shares {@link Applications#OTHER}; then
   * the first call creates the string.
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
    addSize(row, span);
    int status = SeriesTable.status(kindAndStatus);
    if (status == STATUS_ERROR || (mapped ? status == STATUS_SLOW : nanos >= slowNanos)) {
      keepDocument(spans, span, row, bucket);
    }
    if (open.wantsExemplar(pane, row)) {
      open.keepExemplar(pane, row, bucket, document(spans, span, TraceDocument.Reason.EXEMPLAR));
    }
  }

  /** Counts the spans of a group. They have no identity, so they cannot become documents. */
  private void recordGroup(
      SpanColumns spans, int group, int application, long slowNanos, long nowMillis) {
    int size = spans.spans(group);
    int row = settle(spans, group, size, application, nowMillis);
    if (row < 0) {
      return;
    }
    long threshold = spans.samplingThreshold(group);
    int kindAndStatus = spans.kindAndStatus(group);
    Buckets bounds = buckets[SeriesTable.kind(kindAndStatus)];
    boolean byDemand = decoder.byDemand();
    boolean mappedSlow = mapped && SeriesTable.status(kindAndStatus) == STATUS_SLOW;
    for (int i = 0; i < size; i++) {
      long nanos = spans.groupDurationNanos(group, i);
      count(row, bounds, nanos, threshold);
      if (byDemand && (mapped ? mappedSlow : nanos >= slowNanos)) {
        documentsNotSent++;
      }
    }
    addSize(row, group);
    if (byDemand && decoder.lacksDimension(group)) {
      dimensionsNotSent += size;
    }
  }

  /**
   * Counts the events of the batch's spans, after {@link #record}. The books do not include them.
   * An event has the weight of its span.
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
   * Finds the series of an entry, and counts the outcome of its spans or events.
   *
   * @param count number of its spans or events
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

  /** Adds a span to a row; returns its bucket. */
  private int count(int row, Buckets bounds, long nanos, long threshold) {
    WindowRows to = pane;
    int bucket = bounds.of(nanos);
    long whole = 1;
    if (threshold == 0) {
      to.add(row, bucket, 1, nanos);
    } else {
      int number = to.series(row);
      long weight = Weight.of(threshold);
      long owed = weight + series.carry(number);
      series.carry(number, Weight.fraction(owed));
      to.carry(row, Weight.fraction(owed));
      whole = Weight.whole(owed);
      to.add(row, bucket, whole, Weight.times(weight, nanos));
    }
    if (nativeBuckets != null) {
      to.addNative(row, nativeBuckets.of(nanos), whole);
    }
    return bucket;
  }

  /** Adds the size of a span or group to a row, without its weight. */
  private void addSize(int row, int entry) {
    if (hasSizes) {
      pane.addSize(row, decoder.size(entry));
    }
  }

  /**
   * Adds an event to a row, with the weight of its spans.
   *
   * @param spans that have it, at most {@link org.traceetl.proto.Limits#MAX_SPANS}, so that no
   *     product below overflows
   */
  private void countEvents(int row, int spans, long threshold) {
    WindowRows to = pane;
    long whole = spans;
    if (threshold != 0) {
      int number = to.series(row);
      long weight = Weight.of(threshold);
      long owed = Weight.fraction(weight) * spans + series.carry(number);
      series.carry(number, Weight.fraction(owed));
      to.carry(row, Weight.fraction(owed));
      whole = Weight.whole(weight) * spans + Weight.whole(owed);
    }
    to.add(row, buckets[0].of(0), whole, 0);
    if (nativeBuckets != null) {
      to.addNative(row, nativeBuckets.of(0), whole);
    }
  }

  /** Counts a key without room, unless its application has no room for any series. */
  private void countForRoom(SpanColumns spans, int entry, int count, int application) {
    if (application != Applications.OTHER) {
      long threshold = spans.samplingThreshold(entry);
      long each = threshold == 0 ? 1 : Weight.whole(Weight.of(threshold));
      heavyHitters.count(application, keyHashes.of(spans, entry), each * count);
    }
  }

  /** Returns the row of a series that had none when the batch began. */
  private int openRow(int number) {
    int opened = pane.row(number);
    if (opened >= 0) {
      return opened;
    }
    if (pane.isFull()) {
      open.makeRoom(pane, spares.peek());
    }
    int row = pane.open(number);
    series.touch(number, openedMillis);
    long carry = series.carry(number);
    if (carry != 0) {
      pane.carry(row, carry);
    }
    return row;
  }

  /**
   * Returns or creates the series of a span that had none when the batch began; {@link
   * SeriesTable#NONE} if there is no room, {@link #FILTERED} if a filter excludes it.
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

  /** Checks filter and room first, so that refused spans do not fill the symbol table. */
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
    // After truncation or repair, two entries of the batch may be the same symbol.
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

  /** Writes a span's key into an array; returns whether all its strings have symbols. */
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

  /** Returns whether the series has another name. */
  private boolean resolveName(int entry) {
    return names.resolve(entry, texts.buffer(entry), texts.offset(entry), texts.length(entry));
  }

  private void internName(int entry) {
    if (nameOf[entry] == SymbolTable.ABSENT) {
      resolveName(entry);
      nameOf[entry] = symbols.intern(names.buffer(), names.offset(), names.length());
    }
  }

  /** Returns the span name in its series. Allocates. */
  private String nameText(int entry) {
    resolveName(entry);
    int length = Utf8.cut(names.buffer(), names.offset(), names.length(), maxValueBytes);
    return new String(names.buffer(), names.offset(), length, UTF_8);
  }

  private int symbol(int entry) {
    int symbol = symbolOf[entry];
    return symbol != NOT_LOOKED_UP ? symbol : find(entry);
  }

  /** Returns a dimension's symbol; Prometheus drops empty labels, so an empty value is none. */
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
    // Documents without a trace ID would overwrite each other.
    boolean named = (spans.traceIdHigh(span) | spans.traceIdLow(span)) != 0;
    if (!named || !open.admitsDocument(pane, row)) {
      heldBack++;
      return;
    }
    TraceDocument.Reason reason =
        SeriesTable.status(spans.kindAndStatus(span)) == STATUS_ERROR
            ? TraceDocument.Reason.ERROR
            : TraceDocument.Reason.SLOW;
    open.keepDocument(pane, row, bucket, document(spans, span, reason));
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
   * Sets the start of the first window, unless the queue has had windows. Each window begins at the
   * end of the previous one, even if messages are missing or the topic was recreated.
   */
  public void beginAt(long offset) {
    if (from == JournalLog.NONE) {
      from = offset;
    }
  }

  /**
   * Ends the open window if it is not empty and its predecessor is back. Idle series and agents
   * leave with it.
   *
   * @param to offset after the window's last message
   * @return the window, to be sealed; null if it continues
   */
  public FilledWindow swap(long to, long nowMillis) {
    return swap(to, nowMillis, 0);
  }

  /**
   * Ends the open window like {@link #swap(long, long)}. In a queue without messages, windows end
   * as well while a pane is open or an agent is waited for. The journal accepts them only if the
   * broker answers, so the agents are silent, and the queue's time passes.
   *
   * @param passedMillis time since the last call without a message, at the end of the queue; 0 if
   *     there was a message or may be one
   */
  FilledWindow swap(long to, long nowMillis, long passedMillis) {
    return swap(to, nowMillis, passedMillis, false);
  }

  /** Ends the open window like {@link #swap(long, long)}, but before its time. */
  FilledWindow swapEarly(long to, long nowMillis) {
    return swap(to, nowMillis, 0, true);
  }

  private FilledWindow swap(long to, long nowMillis, long passedMillis, boolean isEarly) {
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
    if (isEarly) {
      heavyHitters.endEarly(open);
    } else {
      int displaced = heavyHitters.endWindow(series, open, !lackedSymbols && !symbols.isFull());
      if (displaced > 0) {
        listener.displaced(queue, displaced);
      }
    }
    history.forgetSilent(nowMillis);
    long agentsEvicted = history.takeEvicted();
    if (agentsEvicted > 0) {
      listener.agentsEvicted(queue, agentsEvicted);
    }
    List<SeriesDefinition> created = series.takeCreated();
    FilledWindow filled = null;
    long writtenPaneMillis = writtenPaneMillis();
    boolean isEmpty = to == from && open.isEmpty();
    boolean isIdle = passedMillis > 0 && isEmpty;
    // The last window is kept, and proves that the broker answered after that time.
    long provenMillis = isIdle ? silentMillis : 0;
    if (isIdle || !isEmpty) {
      silentMillis = 0;
    }
    if (to != from
        || !open.isEmpty()
        || evicted.length > 0
        || isIdle && writtenPaneMillis != 0 && (closing.hasOpenPane() || marks.isWaiting())) {
      silentMillis = isIdle ? Math.min(passedMillis, StreamClock.MAX_STEP_MILLIS) : 0;
      clock.pass(provenMillis);
      WindowCompleteness completeness = WindowCompleteness.NONE;
      long closedMillis = SealedWindow.UNKNOWN_CLOSED;
      if (writtenPaneMillis != 0) {
        completeness = marks.endWindow();
        closedMillis = closePanes(completeness, nowMillis, writtenPaneMillis);
      }
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
              writtenPaneMillis,
              history.takeAccepted(),
              completeness,
              closedMillis,
              open,
              spares);
      listener.panes(queue, open.panes(), open.rows(), open.mergedSpans());
      // Last, so that an earlier failure does not lose the spare one.
      open = spares.remove();
      pane = null;
    }
    openedMillis = nowMillis;
    from = to;
    return filled;
  }

  /**
   * Returns until when panes are closed; {@link SealedWindow#UNKNOWN_CLOSED} if the window has
   * nothing else that needs panes, and the journal already contains the time.
   */
  private long closePanes(WindowCompleteness completeness, long nowMillis, long lengthMillis) {
    long beforeMillis = closing.closedMillis();
    for (int i = 0; i < open.panes(); i++) {
      if (open.rows(i).size() > 0) {
        closing.counted(open.rows(i).startMillis(), lengthMillis);
      }
    }
    long closedMillis = closing.endWindow(completeness, nowMillis, lengthMillis);
    boolean isKnown = closedMillis == beforeMillis && open.rows() == 0 && completeness.isEmpty();
    return isKnown ? SealedWindow.UNKNOWN_CLOSED : closedMillis;
  }

  /**
   * Returns the time since when series that leave with the open window were untouched. Series that
   * it counts stay, even if it is longer than the idle limit or the clock was set.
   */
  private long idleSinceMillis(long nowMillis) {
    long sinceMillis = nowMillis - idleMillis;
    if (!SealedWindow.isLong(openedMillis, nowMillis)) {
      return Math.min(sinceMillis, openedMillis);
    }
    for (int i = 0; i < open.panes(); i++) {
      WindowRows rowsOfPane = open.rows(i);
      for (int row = 0; row < rowsOfPane.size(); row++) {
        series.touch(rowsOfPane.series(row), nowMillis);
      }
    }
    return sinceMillis;
  }

  /** Returns the length of the panes with which the open window is written; 0 for none. */
  private long writtenPaneMillis() {
    if (pane == null) {
      return aggregation.writesPanes(panesInJournal) ? aggregation.paneMillis() : 0;
    }
    return writesPanes() ? paneMillis : 0;
  }

  /** Returns whether the open window may be written with its panes. */
  private boolean writesPanes() {
    return panesPermitted || aggregation.writesPanes(panesInJournal);
  }

  /**
   * Returns whether the open window has several panes, and it is not known yet whether they may be
   * written: a server that has just started has read a backlog. Only in the first minute, since
   * otherwise each window would wait while the topic of the demand cannot be read.
   */
  boolean awaitsPanes(long nowMillis) {
    long waitedMillis = nowMillis - begunMillis;
    return open.panes() > 1
        && paneMillis != 0
        && aggregation.awaitsPanes()
        && !writesPanes()
        && waitedMillis >= 0
        && waitedMillis < MOST_AWAITED_MILLIS;
  }

  /** Returns whether the open window's predecessor is back; true until the next {@link #swap}. */
  boolean canSwap() {
    return !spares.isEmpty();
  }

  /**
   * Returns whether the open window can end, and should end before its time: it has many panes or
   * much memory, as when a backlog is read. While it is not known whether its panes are written, it
   * continues.
   */
  boolean isCrowded(long nowMillis) {
    boolean hasMany = open.panes() >= CROWDED_PANES && nowMillis - openedMillis >= CROWDED_MILLIS;
    return (hasMany || open.isCrowded()) && canSwap() && writesPanes();
  }

  /** Releases the queue; what was recorded since the last swap is dropped. */
  public void release() {
    series.release();
  }

  public int seriesCount() {
    return series.size();
  }

  public int symbolCount() {
    return symbols.size();
  }

  public int agentCount() {
    return history.agents();
  }
}
