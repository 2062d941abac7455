package org.traceetl.server.features.preview;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.MeasuredSpans;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Counts the series of one application's measures. Not thread-safe. */
final class MeasurePreview {
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();

  private final BatchDecoder decoder;
  private final MeasuredSpans measured;
  private final int columns;
  private final int maxValueBytes;

  /** By name of the metric. */
  private final Map<String, MeasureEstimate> metrics = new LinkedHashMap<>();

  /** By text of the batch: its hash; 0 if it is not known yet. */
  private long[] hashes = {};

  private QueueId queue;
  private String application;
  private boolean hasMeasures;

  /**
   * @param decoder by rules with the measures
   * @param columns dimensions of series of spans
   */
  MeasurePreview(
      BatchDecoder decoder, List<MeasureConfig> measures, int columns, int maxValueBytes) {
    this.decoder = decoder;
    this.columns = columns;
    this.maxValueBytes = maxValueBytes;
    measured = new MeasuredSpans(decoder);
    measures.forEach(
        measure -> metrics.computeIfAbsent(measure.name(), each -> new MeasureEstimate()));
  }

  /** Begins a batch of spans, or of their whole copies. */
  void begin(QueueId of, String name) {
    queue = of;
    application = name;
    hasMeasures = measured.begin();
    hashes = new long[hasMeasures ? decoder.texts().size() : 0];
    metrics.values().forEach(metric -> metric.detail().addQueue(of));
  }

  /**
   * Adds a span or group.
   *
   * @param isSample whether it is a whole copy of an incomplete span
   * @return number of new keys; its complement, which is below 0, if a measure lacks an attribute
   *     that decides about series
   */
  int add(int entry, boolean isSample) {
    if (!hasMeasures || entry >= decoder.columns().firstEvent() || !measured.read(entry)) {
      return 0;
    }
    int keys = 0;
    boolean lacks = false;
    for (int measure = 0; measure < measured.measures(); measure++) {
      long value = measured.value(measure);
      MeasureEstimate metric = metrics.get(measured.config(measure).name());
      if (value == MeasuredSpans.NOT_SENT || value >= 0 && measured.lacksLabel(measure)) {
        metric.setIncomplete();
        lacks = true;
      } else if (value >= 0) {
        keys += add(metric, measure, isSample);
      }
    }
    return lacks ? ~keys : keys;
  }

  private int add(MeasureEstimate metric, int measure, boolean isSample) {
    long key = hash(measured.name(measure));
    for (int i = 0; i < measured.labels(measure, false); i++) {
      int value = measured.labelValue(measure, false, i);
      if (isPresent(value)) {
        key = ApplicationEstimate.mix(key, hash(measured.label(measure, false, i)));
        key = ApplicationEstimate.mix(key, hash(value));
      }
    }
    int keys = metric.add(key, isSample) + metric.detail().add(queue, key, isSample);
    return metric.detail().has(key) ? keys : keys + metric.detail().define(key, values(measure));
  }

  private String[] values(int measure) {
    List<String> values = new ArrayList<>();
    values.add(application);
    values.add(measured.config(measure).name());
    values.add(Integer.toString(SeriesDefinition.OF_MEASURES));
    values.add("0");
    for (int i = 0; i < columns; i++) {
      values.add(null);
    }
    for (int i = 0; i < measured.labels(measure, false); i++) {
      int value = measured.labelValue(measure, false, i);
      if (isPresent(value)) {
        values.add(decoder.text(measured.label(measure, false, i), maxValueBytes));
        values.add(decoder.text(value, maxValueBytes));
      }
    }
    return values.toArray(String[]::new);
  }

  private boolean isPresent(int value) {
    return value != SpanColumns.NONE && decoder.texts().length(value) > 0;
  }

  private long hash(int text) {
    if (hashes[text] == 0) {
      Texts texts = decoder.texts();
      byte[] buffer = texts.buffer(text);
      int offset = texts.offset(text);
      int length = Utf8.cut(buffer, offset, texts.length(text), maxValueBytes);
      hashes[text] = HASH.hashBytes(buffer, offset, length).asLong() | 1;
    }
    return hashes[text];
  }

  /** Returns the estimates by name of the metric, in the order of the rules. */
  Map<String, MeasureEstimate> metrics() {
    return metrics;
  }
}
