package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpansOfTraces;
import org.traceetl.proto.TraceId;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.MeasuredSpans;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.SpanRules;
import org.traceetl.server.decode.SpanRulesInForce;
import org.traceetl.server.decode.Texts;
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
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowRows;

/**
 * Finds the series of a batch's spans and events, and adds them to the open window of their queue.
 * In a steady state it allocates nothing. Confined to the worker that owns the queue.
 */
final class SpanRecorder implements Recorder {
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

  /** {@link Form#KEY}. */
  private static final byte[] NO_TEXT = {};

  /** Attribute of a document with the span's original name, if its series has another one. */
  private static final String RAW_NAME = "span.name";

  private final QueueId queue;
  private final Aggregation aggregation;
  private final BatchDecoder decoder;
  private final QueueWindows windows;
  private final SpanPipelineMetrics listener;
  private final Texts texts;

  /** Buckets by kind of series. */
  private final Buckets[] buckets;

  /** Whether a mapping determines which spans are slow. */
  private final boolean mapped;

  /** Null if only classic buckets are configured. */
  private final NativeBuckets nativeBuckets;

  /** The form of the batch's spans; null for that of the configuration. */
  private Form form;

  /** Symbols of the label of a form, and of the form. */
  private int formLabel;

  private int formText;

  /** The native buckets of spans of the batch that have a series of their own; null for none. */
  private NativeBuckets formNatives;

  /** Whether the last settled entry counts in an overflow series, which has no other form. */
  private boolean isOverflow;

  private final boolean hasSizes;

  /** Whether sampled spans of the batch add to the variance of their series. */
  private boolean hasVariances;

  private final SpansOfTraces ofTraces = new SpansOfTraces();

  private final RecordingFilter filter;
  private final AttributeKeys documentKeys;
  private final int maxValueBytes;

  private final SpanNames names;
  private final QueueSeries queueSeries;
  private final SymbolTable symbols;
  private final Applications applications;
  private final SeriesTable series;
  private final HeavyHitters heavyHitters;
  private final KeyHashes keyHashes;
  private final CardinalitySurvey census;

  /** Null if no targets are shown. */
  private final QueueTargets targets;

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

  /** Symbols of a span's labels and their values in turn. */
  private int[] pairs = new int[8];

  /** Rules at the end of the last window. */
  private SpanRulesInForce rules;

  // Of changes of rules, until all series that they concern were retired once. If the number of an
  // application passes to another one meanwhile, the series of that one are retired too, and
  // continue at their next span.

  /** Applications whose series of spans and events changed. */
  private final BitSet changed = new BitSet();

  /** By application: names of measures that changed. */
  private final Map<Integer, Set<String>> changedMeasures = new HashMap<>();

  /** The series at which the next window continues; {@link SeriesTable#NONE} if no change lasts. */
  private int retireFrom = SeriesTable.NONE;

  // By entry of the batch
  private int[] keys;
  private int[] hashes;
  private int[] numbers;
  private int[] rows;

  /** Which spans of the batch measures count, and with which values. */
  private final MeasuredSpans measured;

  /** Key of a measure's series. */
  private final int[] measureKey;

  // Outcomes of the batch's spans, later of their events, later of their values in measures
  private int recorded;
  private int overflowed;
  private int filtered;
  private int insane;
  private int heldBack;

  /** Spans in overflow series while the tenant was at its limit. */
  private int overflowedOfTenant;

  /** Documents held back because of the tenant's limit. */
  private int heldBackOfTenant;

  /** Spans in groups with a dimension that was not sent. */
  private int dimensionsNotSent;

  /** Slow spans in groups that a demand made. */
  private int documentsNotSent;

  /** Spans in groups that may lack a label, because the demand that made them lacks it. */
  private int outdated;

  // Valid while a batch is recorded

  /** Ints of the measure's labels in {@link #pairs}; negative if a string has no symbol. */
  private int pairsOfMeasure;

  private WindowMetrics open;

  /** The rows of the batch's pane. */
  private WindowRows pane;

  /**
   * @param decoder has the batch that is to be recorded
   * @param windows of the queue
   * @param image has the series of earlier windows
   */
  SpanRecorder(
      QueueId queue,
      Aggregation aggregation,
      BatchDecoder decoder,
      QueueWindows windows,
      SpanPipelineMetrics listener,
      QueueImage image) {
    this.queue = queue;
    this.aggregation = aggregation;
    this.decoder = decoder;
    this.windows = windows;
    this.listener = listener;
    texts = decoder.texts();
    buckets = aggregation.buckets;
    mapped = aggregation.isMapped();
    nativeBuckets = aggregation.nativeBuckets;
    hasSizes = aggregation.hasSizes;
    filter = aggregation.filter;
    documentKeys = aggregation.documentKeys;
    maxValueBytes = aggregation.series.maxValueBytes();
    names = aggregation.newSpanNames();
    queueSeries = new QueueSeries(queue, aggregation, windows, listener, image, mapped);
    symbols = queueSeries.symbols;
    applications = queueSeries.applications;
    series = queueSeries.table;
    heavyHitters = new HeavyHitters(aggregation.series.maxPerApplication());
    keyHashes = new KeyHashes(texts, names, symbols);
    census =
        new CardinalitySurvey(
            aggregation.series, mapped, series, applications, symbols, heavyHitters);
    targets = aggregation.newTargets(queue);
    key = new int[series.width()];
    measured = new MeasuredSpans(decoder);
    measureKey = new int[series.width()];
    Arrays.fill(measureKey, SymbolTable.NONE);
    measureKey[SeriesTable.KIND_AND_STATUS] = SeriesTable.OF_MEASURES;
    rules = aggregation.spanRules();
    grow(INITIAL_SPANS);
  }

  @Override
  public void begin(long nowMillis) {
    queueSeries.begin(nowMillis);
    applications.beginWindow();
  }

  @Override
  public void advance(long storedMillis, long nowMillis) {}

  @Override
  public int openApplication(long nowMillis) {
    int text = decoder.application();
    if (text < 0) {
      return Applications.UNKNOWN;
    }
    int application =
        applications.resolve(texts.buffer(text), texts.offset(text), texts.length(text), nowMillis);
    windows.open().openBooks(application, applications.name(application));
    return application;
  }

  @Override
  public void reject(int application, Rejection rejection, int spans, int bytes) {
    WindowMetrics window = windows.open();
    window.openBooks(application, applications.name(application));
    window.bookRejected(application, rejection, spans, true);
    listener.rejected(bytes, rejection);
  }

  @Override
  public void duplicate(int application, long nowMillis) {
    windows.open().bookDuplicate(application, decoder.declaredSpans());
  }

  /** Records the spans of the decoded batch, their events, and the books. */
  @Override
  public void record(int application, long committedMillis, long nowMillis) {
    windows.turnTo(committedMillis);
    open = windows.open();
    pane = windows.pane();
    recordSpans(application, nowMillis);
    int spans = decoder.declaredSpans();
    open.countSpans(recorded + overflowed);
    open.book(application, spans, recorded, overflowed, filtered, heldBack);
    if (insane > 0) {
      open.bookRejected(application, Rejection.BAD_VALUE, insane, false);
    }
    if (dimensionsNotSent + documentsNotSent > 0) {
      listener.notSent(dimensionsNotSent, documentsNotSent);
    }
    if (outdated > 0) {
      listener.outdated(outdated);
    }
    if (overflowedOfTenant + heldBackOfTenant > 0) {
      listener
          .tenants()
          .limited(applications.tenant(application).name(), overflowedOfTenant, heldBackOfTenant);
    }
    recordEvents(application, nowMillis);
    recordMeasures(application, nowMillis);
    if (targets != null) {
      targets.see(decoder, nowMillis);
    }
  }

  private void beginCounts() {
    recorded = 0;
    overflowed = 0;
    filtered = 0;
    insane = 0;
    heldBack = 0;
    overflowedOfTenant = 0;
    heldBackOfTenant = 0;
    dimensionsNotSent = 0;
    documentsNotSent = 0;
    outdated = 0;
  }

  /** Finds the series of all entries of the batch, and counts its spans. */
  private void recordSpans(int application, long nowMillis) {
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
    ofTraces.nextBatch();
    hasVariances = !mapped && aggregation.writesVariances(queueSeries.hasVariances());
    beginForm();
    int symbol = applications.symbol(application);
    this.application = application == Applications.OTHER ? null : applications.name(application);
    names.patterns(decoder.rules().patterns());
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
    for (int span = 0; formNatives != null && span < size; span++) {
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
    long threshold = spans.samplingThreshold(span);
    int kindAndStatus = spans.kindAndStatus(span);
    int bucket = queueSeries.count(row, bounds(kindAndStatus), natives(), nanos, threshold);
    addSize(row, span);
    if (threshold != 0 && hasVariances) {
      int before = ofTraces.add(pane.series(row), spans.traceIdHigh(span), spans.traceIdLow(span));
      // The square of the trace's spans is the sum of these odd numbers.
      queueSeries.addVariance(row, threshold, 2L * before + 1, nowMillis);
    }
    int status = SeriesTable.status(kindAndStatus);
    if (status == STATUS_ERROR || (mapped ? status == STATUS_SLOW : nanos >= slowNanos)) {
      keepDocument(spans, span, row, bucket, application);
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
    Buckets bounds = bounds(kindAndStatus);
    NativeBuckets natives = natives();
    boolean byDemand = decoder.byDemand();
    boolean mappedSlow = mapped && SeriesTable.status(kindAndStatus) == STATUS_SLOW;
    for (int i = 0; i < size; i++) {
      long nanos = spans.groupDurationNanos(group, i);
      queueSeries.count(row, bounds, natives, nanos, threshold);
      if (byDemand && (mapped ? mappedSlow : nanos >= slowNanos)) {
        documentsNotSent++;
      }
    }
    addSize(row, group);
    if (threshold != 0 && hasVariances) {
      queueSeries.addVariance(row, threshold, size + spans.groupPairs(group), nowMillis);
    }
    if (byDemand && decoder.lacksDimension(group)) {
      dimensionsNotSent += size;
    }
    if (decoder.groupsLackLabel()) {
      outdated += size;
    }
  }

  /** Takes the form of the batch's application. Its text has a symbol once a series has it. */
  private void beginForm() {
    form = decoder.rules().form();
    formNatives = form == null ? nativeBuckets : decoder.rules().nativeBuckets();
    if (form != null) {
      formLabel = symbols.findRule(NO_TEXT);
      formText = symbols.findRule(form.utf8());
    }
  }

  /** Returns the classic buckets of the last settled entry. */
  private Buckets bounds(int kindAndStatus) {
    return form == null || isOverflow
        ? buckets[SeriesTable.kind(kindAndStatus)]
        : decoder.rules().buckets();
  }

  /** Returns the native buckets of the last settled entry; null for none. */
  private NativeBuckets natives() {
    return isOverflow ? nativeBuckets : formNatives;
  }

  /**
   * Counts the events of the batch's spans, after {@link #recordSpans}. The books do not include
   * them. An event has the weight of its span.
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
   * Counts the spans and groups of the batch in their measures, after {@link #recordSpans}. The
   * books do not include them. A value has the weight of its span.
   */
  private void recordMeasures(int application, long nowMillis) {
    boolean isRead = aggregation.writesMeasures() || queueSeries.hadMeasures;
    if (!isRead || !measured.begin()) {
      return;
    }
    beginCounts();
    int notNumbers = 0;
    int negative = 0;
    int tooLarge = 0;
    int notSent = 0;
    SpanColumns spans = decoder.columns();
    for (int entry = 0; entry < spans.firstEvent(); entry++) {
      if (numbers[entry] == FILTERED
          || !Weight.isSane(spans.samplingThreshold(entry))
          || !measured.read(entry)) {
        continue;
      }
      if (measured.needsName()) {
        resolveName(spans.name(entry));
        int length = Utf8.cut(names.buffer(), names.offset(), names.length(), maxValueBytes);
        measured.name(names.buffer(), names.offset(), length);
      }
      int count = spans.spans(entry);
      boolean lacksLabel = false;
      for (int measure = 0; measure < measured.measures(); measure++) {
        long value = measured.value(measure);
        if (value >= 0) {
          lacksLabel |= recordMeasure(spans, entry, measure, value, application, nowMillis);
        } else if (value == MeasuredSpans.NOT_A_NUMBER) {
          notNumbers += count;
        } else if (value == MeasuredSpans.NEGATIVE) {
          negative += count;
        } else if (value == MeasuredSpans.TOO_LARGE) {
          tooLarge += count;
        } else if (value == MeasuredSpans.NOT_SENT) {
          notSent += count;
        }
      }
      // Without a label of the series, groups were counted as outdated already.
      if (lacksLabel && !decoder.groupsLackLabel()) {
        outdated += count;
      }
    }
    listener.measured(recorded, overflowed, notNumbers, negative, tooLarge, notSent);
    if (outdated > 0) {
      listener.outdated(outdated);
    }
  }

  /** Returns whether the entry counts in a series that may lack a label. */
  private boolean recordMeasure(
      SpanColumns spans, int entry, int measure, long value, int application, long nowMillis) {
    int size = spans.spans(entry);
    int number = measureSeries(measure, application, nowMillis);
    boolean isOverflowed = number == SeriesTable.NONE;
    if (isOverflowed) {
      number = measureOverflow(measure, application, nowMillis);
      overflowed += size;
    } else {
      recorded += size;
    }
    int row = queueSeries.row(number);
    Buckets bounds = measured.buckets(measure);
    long threshold = spans.samplingThreshold(entry);
    boolean isDuration = measured.config(measure).value() == MeasureConfig.Source.DURATION;
    long goodNanos = measured.goodNanos(measure);
    boolean needsNanos = isDuration || goodNanos < Long.MAX_VALUE;
    boolean isGroup = entry >= spans.firstGroup();
    for (int i = 0; i < size; i++) {
      long each = value;
      if (needsNanos) {
        long nanos = isGroup ? spans.groupDurationNanos(entry, i) : spans.durationNanos(entry);
        each = isDuration ? nanos : nanos < goodNanos ? value : 0;
      }
      queueSeries.count(row, bounds, null, each, threshold);
    }
    return !isOverflowed && measured.lacksLabel(measure);
  }

  /** Returns or creates a series of a measure; {@link SeriesTable#NONE} if there is no room. */
  private int measureSeries(int measure, int application, long nowMillis) {
    if (application == Applications.OTHER) {
      return SeriesTable.NONE;
    }
    int number = findMeasure(measure, false, application);
    if (number != SeriesTable.NONE
        || !series.hasRoom(application, heavyHitters.kept(application), heavyHitters.kept())) {
      return number;
    }
    intern(measured.name(measure));
    for (int i = 0; i < measured.labels(measure, false); i++) {
      int value = measured.labelValue(measure, false, i);
      if (value != SpanColumns.NONE) {
        intern(measured.label(measure, false, i));
        intern(value);
      }
    }
    number = findMeasure(measure, false, application);
    if (number == SeriesTable.NONE && pairsOfMeasure >= 0 && measureKey[SeriesTable.NAME] >= 0) {
      measureKey[SeriesTable.LABELS] = series.internLabels(pairs, pairsOfMeasure);
      int hash = series.hash(measureKey, 0);
      number = series.create(hash, measureKey, application, nowMillis);
    }
    return number;
  }

  private int measureOverflow(int measure, int application, long nowMillis) {
    int number = findMeasure(measure, true, application);
    return number != SeriesTable.NONE
        ? number
        : series.overflowOfMeasure(
            application,
            measured.config(measure).name(),
            measured.overflowLabels(measure),
            nowMillis);
  }

  /** Returns a series of a measure, or {@link SeriesTable#NONE}; fills its key and pairs. */
  private int findMeasure(int measure, boolean overflow, int application) {
    int count = 0;
    boolean known = true;
    for (int i = 0; i < measured.labels(measure, overflow); i++) {
      int value = measured.labelValue(measure, overflow, i);
      if (value == SpanColumns.NONE || texts.length(value) == 0) {
        continue;
      }
      if (count == pairs.length) {
        pairs = Arrays.copyOf(pairs, count * 2);
      }
      pairs[count] = symbol(measured.label(measure, overflow, i));
      pairs[count + 1] = symbol(value);
      known &= pairs[count] >= 0 && pairs[count + 1] >= 0;
      count += 2;
    }
    int name = symbol(measured.name(measure));
    pairsOfMeasure = known ? count : SymbolTable.ABSENT;
    measureKey[SeriesTable.APPLICATION] = applications.symbol(application);
    measureKey[SeriesTable.NAME] = name;
    int labels = known ? series.labelSet(pairs, count) : SymbolTable.ABSENT;
    measureKey[SeriesTable.LABELS] = labels;
    return name < 0 || labels < 0
        ? SeriesTable.NONE
        : series.find(series.hash(measureKey, 0), measureKey, 0);
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
      // Measures leave it out, too.
      numbers[entry] = FILTERED;
      filtered += count;
      return NONE;
    }
    isOverflow = number == SeriesTable.NONE;
    if (isOverflow) {
      number = series.overflow(application, spans.kindAndStatus(entry), nowMillis);
      overflowed += count;
      if (applications.aboveTenant(application) >= 0) {
        overflowedOfTenant += count;
      }
      countForRoom(spans, entry, count, application);
    } else {
      recorded += count;
    }
    int row = rows[entry];
    return row < 0 ? queueSeries.row(number) : row;
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
    for (int i = 0; i < spans.dimensions(); i++) {
      int entry = spans.dimension(span, i);
      if (entry != SpanColumns.NONE) {
        intern(entry);
        if (i >= columns()) {
          intern(decoder.label(i));
        }
      }
    }
    if (form != null && span < spans.firstEvent()) {
      formLabel = symbols.internRule(NO_TEXT);
      formText = symbols.internRule(form.utf8());
    }
    boolean known = fillColumns(spans, span, applications.symbol(application), key, 0);
    int ints = fillLabels(spans, span);
    if (!known || ints < 0) {
      return SeriesTable.NONE;
    }
    key[SeriesTable.LABELS] = series.internLabels(pairs, ints);
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

  /** Writes a span's key into an array; returns whether all its strings and labels are known. */
  private boolean fillKey(SpanColumns spans, int span, int application, int[] to, int at) {
    boolean known = fillColumns(spans, span, application, to, at);
    int ints = fillLabels(spans, span);
    int labels = ints < 0 ? ints : series.labelSet(pairs, ints);
    to[at + SeriesTable.LABELS] = labels;
    return known && labels >= 0;
  }

  /** Writes a key without its labels; returns whether all its strings have symbols. */
  private boolean fillColumns(SpanColumns spans, int span, int application, int[] to, int at) {
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

  private int columns() {
    return key.length - SeriesTable.DIMENSIONS;
  }

  /**
   * Writes the labels of a span and their values to {@link #pairs}, first the form, which events do
   * not have.
   *
   * @return number of ints; negative if a string has no symbol
   */
  private int fillLabels(SpanColumns spans, int span) {
    int count = 0;
    boolean known = true;
    if (form != null && span < spans.firstEvent()) {
      pairs[count++] = formLabel;
      pairs[count++] = formText;
      known = formLabel >= 0 && formText >= 0;
    }
    for (int i = columns(); i < spans.dimensions(); i++) {
      int entry = spans.dimension(span, i);
      if (entry == SpanColumns.NONE || texts.length(entry) == 0) {
        continue;
      }
      if (count == pairs.length) {
        pairs = Arrays.copyOf(pairs, count * 2);
      }
      // Looks up all of them, since only a text that was looked up is interned.
      pairs[count] = symbol(decoder.label(i));
      pairs[count + 1] = symbol(entry);
      known &= pairs[count] >= 0 && pairs[count + 1] >= 0;
      count += 2;
    }
    return known ? count : SymbolTable.ABSENT;
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

  private void keepDocument(SpanColumns spans, int span, int row, int bucket, int application) {
    // Documents without a trace ID would overwrite each other.
    boolean named = (spans.traceIdHigh(span) | spans.traceIdLow(span)) != 0;
    if (!named || !open.admitsDocument(pane, row)) {
      heldBack++;
      open.holdBack(pane, row);
      return;
    }
    if (!applications.admitsDocument(application)) {
      heldBack++;
      heldBackOfTenant++;
      open.holdBack(pane, row);
      return;
    }
    applications.addDocument(application);
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

  @Override
  public int[] endWindow(long nowMillis, boolean isEarly) {
    WindowMetrics ending = windows.open();
    for (Cardinality crowded : census.take(ending, nowMillis)) {
      listener.crowded(queue, crowded);
    }
    boolean lackedSymbols = symbols.lackedRoom();
    int[] evicted = queueSeries.evictIdle(ending, nowMillis);
    if (isEarly) {
      heavyHitters.endEarly(ending);
    } else {
      int displaced = heavyHitters.endWindow(series, ending, !lackedSymbols && !symbols.isFull());
      if (displaced > 0) {
        listener.displaced(queue, displaced);
      }
    }
    retireChanged(nowMillis);
    applications.beginWindow();
    listener.tenants().series(queue, applications.seriesOfTenants());
    return evicted;
  }

  /**
   * Frees the places of series that spans may no longer have since rules changed. Last in a window,
   * so that the others have the next one to take their places again.
   */
  private void retireChanged(long nowMillis) {
    SpanRulesInForce now = aggregation.spanRules();
    if (now != rules) {
      addChanges(rules, now);
      rules = now;
    }
    if (retireFrom == SeriesTable.NONE) {
      return;
    }
    retireFrom = series.retireAll(this::hasChanged, retireFrom, nowMillis);
    if (retireFrom == SeriesTable.NONE) {
      changed.clear();
      changedMeasures.clear();
    }
  }

  private void addChanges(SpanRulesInForce before, SpanRulesInForce now) {
    applications.matching(name -> true).stream()
        .forEach(application -> {
          SpanRules former = before.of(applications.name(application));
          SpanRules next = now.of(applications.name(application));
          Set<String> measures = former.measures().changed(next.measures());
          if (!measures.isEmpty()) {
            changedMeasures.computeIfAbsent(application, each -> new HashSet<>()).addAll(measures);
            retireFrom = 0;
          }
          if (!former.sameSeries(next)) {
            changed.set(application);
            retireFrom = 0;
          }
        });
  }

  private boolean hasChanged(int number) {
    int application = series.application(number);
    String measure = series.measure(number);
    return measure == null
        ? changed.get(application)
        : changedMeasures.getOrDefault(application, Set.of()).contains(measure);
  }

  @Override
  public List<SeriesDefinition> takeCreated() {
    return queueSeries.takeCreated();
  }

  @Override
  public EdgeChange takeEdges() {
    return EdgeChange.NONE;
  }

  @Override
  public void release() {
    series.release();
  }

  @Override
  public int seriesCount() {
    return series.size();
  }

  @Override
  public int openHalves() {
    return 0;
  }

  @Override
  public int symbolCount() {
    return symbols.size();
  }
}
