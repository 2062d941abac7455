package org.traceetl.server.consume;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.util.Arrays;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.DimensionKeys;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.RecordingFilter;
import org.traceetl.server.series.SeriesBudget;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.WindowMetrics;

/**
 * Holds the configuration of aggregation, prepared for use, and the learnt names. All queues share
 * it.
 */
public final class Aggregation {
  /** Kinds that a series may have. */
  private static final int KINDS = 16;

  final SeriesConfig series;
  final SeriesBudget budget;
  final RecordingFilter filter;
  final SlowThresholds slow;
  private final NamePatterns namePatterns;
  final DimensionKeys dimensions;
  final AttributeKeys documentKeys;

  /** Buckets of each kind of series; the number of buckets is equal. */
  final Buckets[] buckets;

  /** Number of buckets of a series. */
  private final int stride;

  /** Null if series consist of attributes without a mapping. */
  private final MappedProfile profile;

  private final Messages messages;

  /** Null if only classic buckets are configured. */
  final NativeBuckets nativeBuckets;

  private final DocumentsConfig documents;
  private final long idleMillis;
  private final long maxAgentBytes;
  private final long schema;
  private volatile LearntNames learnt = LearntNames.NONE;

  /**
   * Creates an aggregation of batches with classic buckets only, which need no unit.
   *
   * @throws IllegalArgumentException if native buckets are configured
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window) {
    this(series, withoutNative(histogram), documents, window, MetricsConfig.Unit.MILLISECONDS);
  }

  /**
   * Creates an aggregation of batches whose series consist of attributes without a mapping.
   *
   * @param unit of durations on the page; determines the native buckets
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window,
      MetricsConfig.Unit unit) {
    this(series, histogram, documents, window, unit, null);
  }

  /**
   * Creates an aggregation of batches.
   *
   * @param unit of durations on the page; determines the native buckets
   * @param profile null if series consist of attributes without a mapping
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window,
      MetricsConfig.Unit unit,
      MappedProfile profile) {
    this(series, histogram, documents, window, unit, Messages.SPAN_BATCH, profile);
  }

  /**
   * Creates an aggregation with the default memory limit of de-duplication.
   *
   * @param unit of durations on the page; determines the native buckets
   * @param messages the message formats of the topic
   * @param profile null if series consist of attributes without a mapping
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window,
      MetricsConfig.Unit unit,
      Messages messages,
      MappedProfile profile) {
    this(
        series,
        histogram,
        documents,
        window,
        unit,
        messages,
        profile,
        DeduplicationConfig.defaults());
  }

  /**
   * @param unit of durations on the page; determines the native buckets
   * @param messages the message formats of the topic
   * @param profile null if series consist of attributes without a mapping
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window,
      MetricsConfig.Unit unit,
      Messages messages,
      MappedProfile profile,
      DeduplicationConfig deduplication) {
    this.series = series;
    this.documents = documents;
    budget = new SeriesBudget(series.max());
    filter = new RecordingFilter(series.filters());
    slow = new SlowThresholds(documents);
    namePatterns = new NamePatterns(series.templates().patterns());
    dimensions = new DimensionKeys(series.dimensions());
    documentKeys = new AttributeKeys(documents.attributes());
    stride = histogram.boundsNanos().length + 1;
    buckets = new Buckets[KINDS];
    this.messages = messages;
    this.profile = profile;
    if (profile == null) {
      Arrays.fill(buckets, new Buckets(histogram.boundsNanos()));
    } else {
      Arrays.setAll(buckets, kind -> new Buckets(profile.boundsNanos(kind)));
    }
    nativeBuckets =
        histogram.hasNative() ? new NativeBuckets(histogram.nativeSchema(), unit.nanos()) : null;
    idleMillis = window.idle().toMillis();
    maxAgentBytes = deduplication.maxBytes();
    schema = schema(series, histogram, unit, profile);
  }

  private static HistogramConfig withoutNative(HistogramConfig histogram) {
    if (histogram.hasNative()) {
      throw new IllegalArgumentException(
          "histogram.kind = " + histogram.kind() + ": must come with the unit of durations");
    }
    return histogram;
  }

  private static long schema(
      SeriesConfig series,
      HistogramConfig histogram,
      MetricsConfig.Unit unit,
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

  /** Returns a new decoder for one worker's queues. */
  public BatchDecoder newDecoder() {
    return new BatchDecoder(dimensions, profile == null ? null : profile.newMapping(), messages);
  }

  /** Returns a new aggregator of one queue, used by the thread that uses the decoder. */
  public QueueAggregator newAggregator(
      QueueId queue, BatchDecoder decoder, PipelineMetrics listener) {
    return newAggregator(queue, decoder, listener, newImage());
  }

  /**
   * Returns an aggregator that continues at the end of a queue's journal.
   *
   * @param image made by {@link #newImage}. The aggregator becomes the owner of its history; no
   *     thread may modify the rest from now on
   */
  public QueueAggregator newAggregator(
      QueueId queue, BatchDecoder decoder, PipelineMetrics listener, QueueImage image) {
    return new QueueAggregator(queue, this, decoder, listener, image);
  }

  /** Returns the image of a queue without windows, to which a journal's windows can be added. */
  public QueueImage newImage() {
    return new QueueImage(schema, stride, maxAgentBytes);
  }

  /** Replaces the learnt names, from the next batch on. Any thread. */
  public void learnt(LearntNames now) {
    learnt = now;
  }

  SpanNames newSpanNames() {
    return new SpanNames(
        namePatterns, series.templates().enabled(), series.maxValueBytes(), () -> learnt);
  }

  WindowMetrics newMetrics() {
    return new WindowMetrics(
        stride,
        documents.perSeries(),
        documents.perQueue(),
        documents.exemplarsPerQueue(),
        nativeBuckets != null);
  }

  /** Returns a hash of buckets and dimensions; only series with equal hashes add up. */
  public long schema() {
    return schema;
  }

  long idleMillis() {
    return idleMillis;
  }
}
