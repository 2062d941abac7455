package org.traceetl.server.consume.queue;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.EdgeDecoder;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.MessageDecoder;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.decode.SpanRulesInForce;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.edge.QueueMoves;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.series.RecordingFilter;
import org.traceetl.server.series.SeriesBudget;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.telemetry.TargetInfo;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.WindowMetrics;

/**
 * Holds the configuration of aggregation, prepared for use, and the learnt names and rules. All
 * queues share it.
 */
public final class Aggregation {
  /** Options of an aggregation. */
  public static final class Builder {
    private final LongSupplier seeds;
    private SeriesConfig series = SeriesConfig.defaults();
    private HistogramConfig histogram = new HistogramConfig(null);
    private DocumentsConfig documents = DocumentsConfig.defaults();
    private WindowConfig window = new WindowConfig(null, null, null, null, null);
    private DeduplicationConfig deduplication = DeduplicationConfig.defaults();
    private AgentsConfig agents = AgentsConfig.defaults();
    private Messages messages = Messages.SPAN_BATCH;
    private MetricsConfig.Unit unit;
    private boolean sizes;
    private List<MeasureConfig> measures = List.of();
    private MappedProfile profile;
    private TargetInfo targets;
    private Supplier<OpenEdges> edges;
    private List<String> edgeDimensions = List.of();
    private Duration edgeWait = Duration.ZERO;

    private Builder(LongSupplier seeds) {
      this.seeds = seeds;
    }

    /** Sets the dimensions and limits of series. Call it before {@link #edges}. */
    public Builder series(SeriesConfig config) {
      series = config;
      return this;
    }

    public Builder histogram(HistogramConfig config) {
      histogram = config;
      return this;
    }

    public Builder documents(DocumentsConfig config) {
      documents = config;
      return this;
    }

    public Builder window(WindowConfig config) {
      window = config;
      return this;
    }

    public Builder deduplication(DeduplicationConfig config) {
      deduplication = config;
      return this;
    }

    public Builder agents(AgentsConfig config) {
      agents = config;
      return this;
    }

    /** Sets the message formats of the topic. */
    public Builder messages(Messages formats) {
      messages = formats;
      return this;
    }

    /** Sets the unit of durations on the page, which determines the native buckets. */
    public Builder unit(MetricsConfig.Unit durations) {
      unit = durations;
      return this;
    }

    /** Sets whether the sizes of spans are added up. */
    public Builder sizes(boolean areKept) {
      sizes = areKept;
      return this;
    }

    /** Sets the measures of all applications whose rules have no others. */
    public Builder measures(List<MeasureConfig> ofAll) {
      measures = ofAll;
      return this;
    }

    /** Sets the mapping of attributes to series; null for none. */
    public Builder profile(MappedProfile mapped) {
      profile = mapped;
      return this;
    }

    /**
     * Sets that messages have half-edges: the series are edges.
     *
     * @param maxOpen maximum number of open halves of a queue, 1 to {@link HalfTable#MAX_CAPACITY}
     * @param maxWait stream time after which a half expires
     * @param keys attributes of either end that distinguish edges
     */
    public Builder edges(int maxOpen, Duration maxWait, List<String> keys) {
      int maxTextBytes = series.maxValueBytes();
      List<String> dimensions = List.copyOf(keys);
      List<String> values =
          Stream.of(
                  Stream.of(CONNECTION_TYPE),
                  dimensions.stream().map(EdgesConfig.CLIENT_PREFIX::concat),
                  dimensions.stream().map(EdgesConfig.SERVER_PREFIX::concat))
              .flatMap(each -> each)
              .toList();
      series =
          series.withDimensions(
              values.stream().map(key -> new SeriesConfig.Dimension(key, null, null)).toList());
      edges =
          () ->
              new OpenEdges(
                  maxOpen, maxWait.toMillis(), maxTextBytes, dimensions, seeds.getAsLong());
      edgeDimensions = dimensions;
      edgeWait = maxWait;
      return this;
    }

    /** Sets where targets are shown; null for none. */
    public Builder targets(TargetInfo info) {
      targets = info;
      return this;
    }

    /**
     * Creates the aggregation.
     *
     * @throws IllegalArgumentException if native buckets are configured without a unit
     */
    public Aggregation build() {
      if (histogram.hasNative() && unit == null) {
        throw new IllegalArgumentException(
            "histogram.kind = " + histogram.kind() + ": must come with the unit of durations");
      }
      return new Aggregation(this);
    }
  }

  /** The first dimension of an edge. */
  private static final String CONNECTION_TYPE = "connection_type";

  private static final long MIN_PANE_MILLIS = 1_000;
  private static final long MAX_PANE_MILLIS = 60_000;

  /** Kinds that a series may have. */
  private static final int KINDS = 16;

  /** Whether windows are written with their panes. */
  private enum Panes {
    /** Not known yet: windows keep their panes. */
    AWAITED,
    WRITTEN,
    REFUSED
  }

  /** Which queues have variances of sampled series. */
  private enum Variances {
    /** Those whose journal has them. */
    OF_JOURNAL,
    ALL,
    NONE
  }

  private final LongSupplier seeds;
  final SeriesConfig series;
  public final SeriesBudget budget;
  final RecordingFilter filter;
  final AttributeKeys documentKeys;

  private final HistogramConfig histogram;
  private final MetricsConfig.Unit unit;

  /** Buckets of each kind of series; the number of buckets is equal. */
  final Buckets[] buckets;

  /** Numbers of a series: its buckets, and its size if sizes are kept. */
  private final int stride;

  /** Whether the sizes of spans are added up. */
  final boolean hasSizes;

  /** Null if series consist of attributes without a mapping. */
  private final MappedProfile profile;

  private final Messages messages;

  /** Null if no targets are shown. */
  private final TargetInfo targets;

  /** Creates the open half-edges of a queue; null if messages have spans. */
  private final Supplier<OpenEdges> edges;

  /** Attributes of either end that distinguish edges. */
  private final List<String> edgeDimensions;

  private final long edgeWaitMillis;

  /** Null if only classic buckets are configured. */
  final NativeBuckets nativeBuckets;

  private final List<MeasureConfig> measures;
  private final DocumentsConfig documents;
  private final long idleMillis;
  private final long paneMillis;
  private final long maxAgentBytes;
  private final long silenceMillis;
  private final long graceMillis;
  private final long schema;
  private volatile SlowThresholds slow;
  private volatile SpanRulesInForce spanRules;
  private volatile boolean writesMeasures;
  private volatile Variances variances = Variances.OF_JOURNAL;
  private volatile LearntNames learnt = LearntNames.NONE;
  private volatile QueueMoves moves = QueueMoves.NONE;
  private volatile Panes panes = Panes.REFUSED;

  /** Whether snapshots are written with the rows of open panes. */
  private volatile Panes openPanes = Panes.REFUSED;

  private volatile boolean waitsForPanes;
  private volatile Tenants tenants = Tenants.NONE;

  /**
   * Returns a builder with default options: attributes without a mapping, and classic buckets.
   *
   * @param seeds random, so that senders cannot prepare collisions of hashes; thread-safe
   */
  public static Builder builder(LongSupplier seeds) {
    return new Builder(seeds);
  }

  private Aggregation(Builder options) {
    seeds = options.seeds;
    series = options.series;
    documents = options.documents;
    messages = options.messages;
    profile = options.profile;
    targets = options.targets;
    edges = options.edges;
    edgeDimensions = options.edgeDimensions;
    edgeWaitMillis = options.edgeWait.toMillis();
    HistogramConfig histogram = options.histogram;
    budget = new SeriesBudget(series.max());
    filter = new RecordingFilter(series.filters());
    slow = new SlowThresholds(documents);
    this.histogram = histogram;
    unit = options.unit == null ? MetricsConfig.Unit.MILLISECONDS : options.unit;
    measures = List.copyOf(options.measures);
    spanRules = new SpanRulesInForce(series, histogram, unit, measures, null);
    documentKeys = new AttributeKeys(documents.attributes());
    hasSizes = options.sizes;
    stride = histogram.boundsNanos().length + (hasSizes ? 2 : 1);
    buckets = new Buckets[KINDS];
    if (profile == null) {
      Arrays.fill(buckets, new Buckets(histogram.boundsNanos()));
    } else {
      Arrays.setAll(buckets, kind -> new Buckets(profile.boundsNanos(kind)));
    }
    nativeBuckets =
        histogram.hasNative()
            ? new NativeBuckets(histogram.nativeSchema(), options.unit.nanos())
            : null;
    idleMillis = options.window.idle().toMillis();
    paneMillis = Math.clamp(options.window.length().toMillis(), MIN_PANE_MILLIS, MAX_PANE_MILLIS);
    maxAgentBytes = options.deduplication.maxBytes();
    silenceMillis = options.agents.silence().toMillis();
    graceMillis = options.window.grace().toMillis();
    schema = schema(series, histogram, options.unit, hasSizes, profile);
  }

  private static long schema(
      SeriesConfig series,
      HistogramConfig histogram,
      MetricsConfig.Unit unit,
      boolean hasSizes,
      MappedProfile profile) {
    Hasher hasher = Hashing.farmHashFingerprint64().newHasher();
    for (long bound : histogram.boundsNanos()) {
      hasher.putLong(bound);
    }
    for (SeriesConfig.Dimension dimension : series.dimensions()) {
      hasher.putInt(dimension.from().ordinal());
      hasher.putInt(dimension.attribute().length()).putUnencodedChars(dimension.attribute());
    }
    if (histogram.hasNative()) {
      hasher.putInt(histogram.nativeSchema()).putLong(unit.nanos());
    }
    if (hasSizes) {
      hasher.putBoolean(true);
    }
    for (int kind = 0; profile != null && kind < KINDS; kind++) {
      long[] bounds = profile.boundsNanos(kind);
      hasher.putInt(kind).putInt(bounds.length);
      for (long bound : bounds) {
        hasher.putLong(bound);
      }
    }
    return hasher.hash().asLong();
  }

  /** Returns whether a mapping, not the thresholds here, determines the outcome of a span. */
  boolean isMapped() {
    return profile != null;
  }

  /** Returns the begin of the names of workers' threads. */
  public String workerName() {
    return edges == null ? "trace-etl-worker" : "trace-edges-worker";
  }

  /** Returns a new decoder for one worker's queues, of the messages that they have. */
  public MessageDecoder newMessageDecoder() {
    return edges == null ? newDecoder() : new EdgeDecoder(edgeDimensions);
  }

  /** Returns the number of values of each end of an edge. */
  int edgeDimensions() {
    return edgeDimensions.size();
  }

  /** Returns how long half-edges wait. */
  long edgeWaitMillis() {
    return edgeWaitMillis;
  }

  /**
   * Sets the newest list of queues for half-edges, from the next message on. One thread.
   *
   * @param list newer than all before
   */
  public void edgeQueues(EdgeQueues list) {
    moves = moves.after(list);
  }

  /** Returns which half-edges may be in other queues than their other halves. Any thread. */
  QueueMoves moves() {
    return moves;
  }

  /** Returns a new decoder of spans. */
  public BatchDecoder newDecoder() {
    return profile == null
        ? new BatchDecoder(this::spanRules, series.maxValueBytes(), seeds.getAsLong(), messages)
        : new BatchDecoder(spanRules.others(), profile.newMapping(), messages);
  }

  /** Returns a new aggregator of one queue, used by the thread that uses the decoder. */
  public QueueAggregator newAggregator(
      QueueId queue, MessageDecoder decoder, SpanPipelineMetrics listener) {
    return newAggregator(queue, decoder, listener, newImage());
  }

  /**
   * Returns an aggregator that continues at the end of a queue's journal.
   *
   * @param image made by {@link #newImage}. The aggregator becomes the owner of its history; no
   *     thread may modify the rest from now on
   */
  public QueueAggregator newAggregator(
      QueueId queue, MessageDecoder decoder, SpanPipelineMetrics listener, QueueImage image) {
    return new QueueAggregator(queue, this, decoder, listener, image);
  }

  /** Returns the image of a queue without windows, to which a journal's windows can be added. */
  public QueueImage newImage() {
    QueueImage image =
        new QueueImage(schema, stride, maxAgentBytes)
            .keepPanes(wereRead -> writes(openPanes, wereRead));
    return edges == null ? image : image.keepEdges(edges);
  }

  /** Sets the tenants whose limits apply from each queue's next window on. */
  public void tenants(Tenants now) {
    tenants = now;
  }

  /** Returns the tenants in force. Any thread. */
  Tenants tenants() {
    return tenants;
  }

  /** Returns the durations from which spans are slow, as of now. Any thread. */
  public SlowThresholds slow() {
    return slow;
  }

  /**
   * Replaces these durations by those of rules, from each queue's next window on. Keys that the
   * rules do not have are those of the configuration. Any thread.
   */
  public void rules(Rules now) {
    slow = new SlowThresholds(documents, now);
  }

  /** Returns the dimensions, templates and forms of applications, as of now. Any thread. */
  public SpanRulesInForce spanRules() {
    return spanRules;
  }

  /**
   * Replaces dimensions, templates of span names, forms and measures by those of rules, from the
   * next batch on. Keys that the rules do not have are those of the configuration. Any thread.
   *
   * @param now null for the configuration alone
   */
  public void dimensions(Rules now) {
    spanRules = new SpanRulesInForce(series, histogram, unit, measures, now);
  }

  /**
   * Sets whether measures count, from the next batch on: whether all servers read their series.
   * Initially they count on queues whose journal has such series. Any thread.
   */
  public void measures(boolean readByAll) {
    writesMeasures = readByAll;
  }

  /** Returns whether measures count on all queues. Any thread. */
  boolean writesMeasures() {
    return writesMeasures;
  }

  /**
   * Sets whether sampled series get variances, from the next batch on: whether all servers read
   * them. If not, they get them on queues whose journal has variances. Any thread.
   */
  public void variances(boolean readByAll) {
    variances = readByAll ? Variances.ALL : Variances.OF_JOURNAL;
  }

  /** Sets that no series gets a variance, from the next batch on. Any thread. */
  public void refuseVariances() {
    variances = Variances.NONE;
  }

  /**
   * Returns whether sampled series of a queue get variances. Any thread.
   *
   * @param hasVariances whether its journal has some
   */
  boolean writesVariances(boolean hasVariances) {
    Variances now = variances;
    return now == Variances.ALL || now == Variances.OF_JOURNAL && hasVariances;
  }

  /** Replaces the learnt names, from the next batch on. Any thread. */
  public void learnt(LearntNames now) {
    learnt = now;
  }

  /** Returns the learnt names. Any thread. */
  public LearntNames learnt() {
    return learnt;
  }

  /**
   * Sets whether windows are written with their panes, from each queue's next window on. Initially
   * they are not. Any thread.
   *
   * @param windows whether all servers read windows with panes
   * @param snapshots whether all servers read snapshots with open panes as well
   */
  public void panes(boolean windows, boolean snapshots) {
    panes = windows ? Panes.WRITTEN : Panes.REFUSED;
    openPanes = windows && snapshots ? Panes.WRITTEN : Panes.REFUSED;
  }

  /** Sets whether windows and snapshots are written with their panes. Any thread. */
  public void panes(boolean readByAll) {
    panes(readByAll, readByAll);
  }

  /**
   * Lets windows keep their panes until {@link #panes} is called. Windows that end before are
   * written with them if their queue's journal has such windows, which all servers read. A window
   * with several panes waits for the call.
   */
  public void awaitPanes() {
    panes = Panes.AWAITED;
    openPanes = Panes.AWAITED;
    waitsForPanes = true;
  }

  /** Lets no window wait for {@link #panes}, which is not called soon. Any thread. */
  public void stopAwaitingPanes() {
    waitsForPanes = false;
  }

  /** Returns whether windows with several panes wait for {@link #panes}. Any thread. */
  boolean awaitsPanes() {
    return waitsForPanes && panes == Panes.AWAITED;
  }

  /** Returns whether windows are written with their panes, in each journal. Any thread. */
  public boolean writesPanes() {
    return panes == Panes.WRITTEN;
  }

  /**
   * Returns whether the windows of a queue are written with their panes. Any thread.
   *
   * @param inJournal whether its journal has windows with panes
   */
  boolean writesPanes(boolean inJournal) {
    return writes(panes, inJournal);
  }

  private static boolean writes(Panes now, boolean inJournal) {
    return now == Panes.WRITTEN || now == Panes.AWAITED && inJournal;
  }

  /** Returns whether new windows keep their panes, as they may be written with them. Any thread. */
  boolean keepsPanes() {
    return panes != Panes.REFUSED;
  }

  /** Returns the length of a pane. */
  public long paneMillis() {
    return paneMillis;
  }

  /** Returns after which stream time agents are excluded. */
  long silenceMillis() {
    return silenceMillis;
  }

  /** Returns after which stream time panes are closed. */
  long graceMillis() {
    return graceMillis;
  }

  /** Returns the targets of a queue; null if none are shown. */
  QueueTargets newTargets(QueueId queue) {
    return targets == null
        ? null
        : new QueueTargets(queue, targets, series.maxValueBytes(), seeds.getAsLong());
  }

  SymbolTable newSymbols() {
    return new SymbolTable(
        series.maxSymbols(), series.maxSymbolBytes(), series.maxValueBytes(), seeds.getAsLong());
  }

  SpanNames newSpanNames() {
    return new SpanNames(
        spanRules.others().patterns(),
        series.templates().enabled(),
        series.maxValueBytes(),
        () -> learnt);
  }

  WindowMetrics newMetrics() {
    return new WindowMetrics(
        stride,
        documents.perSeries(),
        documents.perQueue(),
        documents.exemplarsPerQueue(),
        nativeBuckets != null,
        hasSizes);
  }

  /** Returns a hash of buckets, sizes and dimensions; only series with equal hashes add up. */
  public long schema() {
    return schema;
  }

  long idleMillis() {
    return idleMillis;
  }
}
