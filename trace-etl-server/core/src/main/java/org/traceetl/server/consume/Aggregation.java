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
 * How spans are aggregated: the configuration made ready for use and what is learnt of names,
 * shared by all queues.
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

  /** By a series' kind: all have as many buckets. */
  final Buckets[] buckets;

  /** How many buckets a series has. */
  private final int stride;

  /** Null where series are made of attributes as they are. */
  private final MappedProfile profile;

  private final Messages messages;

  /** Null where there are classic buckets alone. */
  final NativeBuckets nativeBuckets;

  private final DocumentsConfig documents;
  private final long idleMillis;
  private final long maxAgentBytes;
  private final long schema;
  private volatile LearntNames learnt = LearntNames.NONE;

  /**
   * With classic buckets alone, which go by no unit.
   *
   * @throws IllegalArgumentException if there are to be native ones
   */
  public Aggregation(
      SeriesConfig series,
      HistogramConfig histogram,
      DocumentsConfig documents,
      WindowConfig window) {
    this(series, withoutNative(histogram), documents, window, MetricsConfig.Unit.MILLISECONDS);
  }

  /**
   * Of batches, with series of attributes as they are.
   *
   * @param unit of durations on the page: native buckets go by it
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
   * Of batches.
   *
   * @param unit of durations on the page: native buckets go by it
   * @param profile null where series are made of attributes as they are
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
   * With the default bound of de-duplication.
   *
   * @param unit of durations on the page: native buckets go by it
   * @param messages what spans come in
   * @param profile null where series are made of attributes as they are
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
   * @param unit of durations on the page: native buckets go by it
   * @param messages what spans come in
   * @param profile null where series are made of attributes as they are
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

  /** Whether what a span's outcome is, is said by a mapping and not by thresholds here. */
  boolean isMapped() {
    return profile != null;
  }

  /** A decoder for one worker's queues. */
  public BatchDecoder newDecoder() {
    return new BatchDecoder(dimensions, profile == null ? null : profile.newMapping(), messages);
  }

  /** An aggregator for one queue, used by the thread that uses the decoder. */
  public QueueAggregator newAggregator(
      QueueId queue, BatchDecoder decoder, PipelineMetrics listener) {
    return newAggregator(queue, decoder, listener, newImage());
  }

  /**
   * An aggregator that goes on where a queue's journal ends.
   *
   * @param image an image made by {@link #newImage}. Its history belongs to the aggregator from now
   *     on; the rest is only read, and nobody may write to it any more
   */
  public QueueAggregator newAggregator(
      QueueId queue, BatchDecoder decoder, PipelineMetrics listener, QueueImage image) {
    return new QueueAggregator(queue, this, decoder, listener, image);
  }

  /** The image of a queue without windows, to which a journal's windows can be added. */
  public QueueImage newImage() {
    return new QueueImage(schema, stride, maxAgentBytes);
  }

  /** Batches from the next one on are joined by what is learnt now. Any thread. */
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

  /** Tells series of these buckets and dimensions from others, with which they do not add up. */
  public long schema() {
    return schema;
  }

  long idleMillis() {
    return idleMillis;
  }
}
