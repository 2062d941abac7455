package org.traceetl.server.features.preview;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.Rejection;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.SpanRules;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.RecordingFilter;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Counts the series that a configuration would create from batches of spans, without limits and
 * learnt names. If groups by a demand lack a dimension, its keys are estimated from samples. Stores
 * a bounded number of 64-bit hashes of keys. Not thread-safe.
 */
final class Preview implements RetainedMessages.Reader {
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();
  private static final int MAX_OTHERS = 1_000;

  private final SeriesConfig config;
  private final int maxKeys;
  private final BatchDecoder decoder;
  private final SpanNames names;
  private final RecordingFilter filter;
  private final Map<String, ApplicationEstimate> tallies = new HashMap<>();
  private final boolean isMapped;
  private final long[] values;
  private final BitSet lacks = new BitSet();

  /** The one application that counts; null for all. */
  private final String only;

  /** The series of the one application; null for all applications. */
  private final SeriesDetail detail;

  /** The measures of the one application; null for all applications. */
  private final MeasurePreview measures;

  /** Names of applications that do not count. */
  private final Set<String> others = new TreeSet<>();

  /** Queue of the current message; null if it is unknown. */
  private QueueId queue;

  private long matched;
  private int keys;
  private long messages;
  private long refused;
  private long filtered;

  /**
   * @param messages format of the messages
   * @param profile null for series that copy attributes
   * @param maxKeys maximum number of stored hashes, each about 60 bytes
   */
  Preview(SeriesConfig config, Messages messages, MappedProfile profile, int maxKeys) {
    this(config, List.of(), messages, profile, maxKeys, null);
  }

  /**
   * Creates a preview of one application, with the values of its series.
   *
   * @param maxKeys maximum number of stored hashes, each about 60 bytes. A series counts as {@value
   *     SeriesDetail#KEYS_OF_SERIES} for its values
   */
  static Preview ofApplication(
      String application,
      SeriesConfig config,
      List<MeasureConfig> measures,
      Messages messages,
      int maxKeys) {
    return new Preview(config, measures, messages, null, maxKeys, application);
  }

  private Preview(
      SeriesConfig config,
      List<MeasureConfig> measures,
      Messages messages,
      MappedProfile profile,
      int maxKeys,
      String only) {
    this.only = only;
    detail = only == null ? null : new SeriesDetail();
    this.config = config;
    this.maxKeys = maxKeys;
    SpanRules rules = SpanRules.of(config.dimensions(), config.templates().patterns(), measures);
    decoder = new BatchDecoder(rules, profile == null ? null : profile.newMapping(), messages);
    names =
        new SpanNames(
            rules.patterns(),
            config.templates().enabled(),
            config.maxValueBytes(),
            () -> LearntNames.NONE);
    filter = new RecordingFilter(config.filters());
    isMapped = profile != null;
    values = new long[config.dimensions().size()];
    this.measures =
        only == null
            ? null
            : new MeasurePreview(decoder, measures, values.length, config.maxValueBytes());
  }

  /** Returns whether the preview is full and must receive no more messages. */
  @Override
  public boolean isFull() {
    return keys >= maxKeys;
  }

  /** Returns the messages that count, of all applications or of the only one. */
  long matched() {
    return matched;
  }

  /** Returns all messages that were read. */
  long messages() {
    return messages;
  }

  /** Returns the messages that no server could count. */
  long refused() {
    return refused;
  }

  /** Returns the spans that filters exclude. */
  long filtered() {
    return filtered;
  }

  /** Returns up to {@value #MAX_OTHERS} applications that do not count, by name. */
  Set<String> others() {
    return others;
  }

  /** Returns the estimates by application. */
  Map<String, ApplicationEstimate> estimates() {
    return tallies;
  }

  SeriesConfig config() {
    return config;
  }

  /** Returns whether series need a mapping. */
  boolean isMapped() {
    return isMapped;
  }

  /** Returns the estimate of the only application; null without spans. */
  ApplicationEstimate estimate() {
    return tallies.get(only);
  }

  /** Returns the series of the only application. */
  SeriesDetail detail() {
    return detail;
  }

  /** Returns the series of the only application's measures, by name of the metric. */
  Map<String, MeasureEstimate> measures() {
    return measures.metrics();
  }

  @Override
  public void add(QueueId of, byte[] message) {
    queue = of;
    add(message);
  }

  /** Adds a message of any queue. The batches of a bundle count as messages, heartbeats do not. */
  void add(byte[] message) {
    if (decoder.isHeartbeat(message)) {
      return;
    }
    if (!decoder.isBundle(message)) {
      add(decoder.decode(message, 0, message.length));
      return;
    }
    BundleReader bundle = decoder.bundle();
    if (bundle.wrap(message, 0, message.length) != Rejection.NONE) {
      messages++;
      refused++;
    }
    for (int part = 0; part < bundle.count(); part++) {
      add(decoder.decodeBundled(message, part));
    }
  }

  private void add(Rejection rejection) {
    messages++;
    if (rejection != Rejection.NONE) {
      refused++;
      return;
    }
    String name = decoder.text(decoder.application(), config.maxValueBytes());
    String application = name.isEmpty() ? Applications.UNNAMED : name;
    if (only != null && !only.equals(application)) {
      if (others.size() < MAX_OTHERS) {
        others.add(application);
      }
      return;
    }
    matched++;
    if (detail != null) {
      detail.addQueue(queue);
    }
    ApplicationEstimate tally = tallies.get(application);
    if (tally == null) {
      tally = new ApplicationEstimate(values.length);
      tallies.put(application, tally);
      keys++;
    }
    boolean incomplete = addSpans(application, tally);
    if (incomplete && decoder.decodeSample() == Rejection.NONE) {
      addSamples(application, tally);
    }
  }

  /** Adds the spans of the last batch; returns whether some lack what decides about series. */
  private boolean addSpans(String application, ApplicationEstimate tally) {
    int entries = decoder.texts().size();
    begin(application, entries);
    long[] nameHashes = new long[entries];
    long[] valueHashes = new long[entries];
    SpanColumns spans = decoder.columns();
    boolean incomplete = false;
    for (int span = 0; span < spans.size(); span++) {
      int count = counted(spans, span);
      if (isMapped && decoder.byDemand() && span >= spans.firstGroup()) {
        // A mapping needs all attributes.
        incomplete = true;
        lacks.set(0, values.length);
        tally.addIncomplete(0, 0, values, lacks, count);
        continue;
      }
      if (leavesOut(application, spans, span)) {
        filtered += count;
        continue;
      }
      boolean lacksMeasure = addMeasures(span, false);
      incomplete |= lacksMeasure;
      setValues(spans, span, valueHashes);
      long name = name(spans.name(span), nameHashes);
      int kindAndStatus = spans.kindAndStatus(span);
      if (lacks.isEmpty()) {
        keys += tally.add(name, kindAndStatus, values, count);
        if (lacksMeasure) {
          tally.addIncomplete(count);
        }
        keep(application, spans, span, name, false);
      } else {
        incomplete = true;
        keys += tally.addIncomplete(name, kindAndStatus, values, lacks, count);
        if (detail != null) {
          detail.addKindAndStatus(kindAndStatus);
        }
      }
    }
    return incomplete;
  }

  private void begin(String application, int entries) {
    names.nextBatch(application, entries);
    if (measures != null) {
      measures.begin(queue, application);
    }
  }

  /** Adds a span to its measures; returns whether it lacks what decides about their series. */
  private boolean addMeasures(int span, boolean isSample) {
    int more = measures == null ? 0 : measures.add(span, isSample);
    keys += more < 0 ? ~more : more;
    return more < 0;
  }

  private void addSamples(String application, ApplicationEstimate tally) {
    int entries = decoder.texts().size();
    begin(application, entries);
    long[] nameHashes = new long[entries];
    long[] valueHashes = new long[entries];
    SpanColumns spans = decoder.columns();
    for (int span = 0; span < spans.size(); span++) {
      if (!leavesOut(application, spans, span)) {
        addMeasures(span, true);
        setValues(spans, span, valueHashes);
        long name = name(spans.name(span), nameHashes);
        keys += tally.addSample(name, spans.kindAndStatus(span), values, counted(spans, span));
        keep(application, spans, span, name, true);
      }
    }
  }

  /** Keeps the values of a span's series, if they are of interest. */
  private void keep(String application, SpanColumns spans, int span, long name, boolean isSample) {
    if (detail == null) {
      return;
    }
    int kindAndStatus = spans.kindAndStatus(span);
    long key = ApplicationEstimate.key(name, kindAndStatus, values);
    keys += detail.add(queue, key, isSample);
    detail.addKindAndStatus(kindAndStatus);
    if (!detail.has(key)) {
      String[] texts = new String[SeriesDefinition.FIXED_DIMENSIONS + values.length];
      texts[SeriesDefinition.APPLICATION] = application;
      resolve(spans.name(span));
      int length = cut(names.buffer(), names.offset(), names.length());
      texts[SeriesDefinition.SPAN_NAME] = new String(names.buffer(), names.offset(), length, UTF_8);
      texts[SeriesDefinition.SPAN_KIND] = Integer.toString(SeriesTable.kind(kindAndStatus));
      texts[SeriesDefinition.STATUS_CODE] = Integer.toString(SeriesTable.status(kindAndStatus));
      for (int i = 0; i < values.length; i++) {
        texts[SeriesDefinition.FIXED_DIMENSIONS + i] =
            values[i] == 0 ? null : decoder.text(spans.dimension(span, i), config.maxValueBytes());
      }
      keys += detail.define(key, texts);
    }
  }

  /** Sets the hashes of an entry's values, and which dimensions it lacks. */
  private void setValues(SpanColumns spans, int span, long[] hashes) {
    lacks.clear();
    boolean isComplete = span < spans.firstGroup();
    for (int i = 0; i < values.length; i++) {
      int entry = spans.dimension(span, i);
      boolean known = isComplete || !decoder.lacks(span, i);
      lacks.set(i, !known);
      values[i] = entry == SpanColumns.NONE || !known ? 0 : value(entry, hashes);
    }
  }

  /** Counts events, which have series but are not spans. */
  private static int counted(SpanColumns spans, int entry) {
    return entry < spans.firstEvent() ? spans.spans(entry) : 0;
  }

  private boolean leavesOut(String application, SpanColumns spans, int span) {
    if (spans.kindAndStatus(span) == SpanColumns.NONE) {
      return true;
    }
    if (filter.isEmpty()) {
      return false;
    }
    resolve(spans.name(span));
    int length = cut(names.buffer(), names.offset(), names.length());
    String name = new String(names.buffer(), names.offset(), length, UTF_8);
    return filter.leavesOut(application, name, spans.kind(span));
  }

  private long name(int entry, long[] hashes) {
    if (hashes[entry] == 0) {
      resolve(entry);
      hashes[entry] = hash(names.buffer(), names.offset(), names.length());
    }
    return hashes[entry];
  }

  private void resolve(int entry) {
    Texts texts = decoder.texts();
    names.resolve(entry, texts.buffer(entry), texts.offset(entry), texts.length(entry));
  }

  private long value(int entry, long[] hashes) {
    Texts texts = decoder.texts();
    int length = texts.length(entry);
    if (hashes[entry] == 0 && length > 0) {
      hashes[entry] = hash(texts.buffer(entry), texts.offset(entry), length);
    }
    return hashes[entry];
  }

  /** Never 0. */
  private long hash(byte[] buffer, int offset, int length) {
    return HASH.hashBytes(buffer, offset, cut(buffer, offset, length)).asLong() | 1;
  }

  private int cut(byte[] buffer, int offset, int length) {
    return Utf8.cut(buffer, offset, length, config.maxValueBytes());
  }
}
