package org.traceetl.server.features.preview;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** The series of one application that whole spans have, with their values. Not thread-safe. */
final class SeriesDetail {
  /** Keys that a series counts as, because its values take about as much memory. */
  static final int KEYS_OF_SERIES = 3;

  /** Characters of a text that take about as much memory as a key. */
  private static final int CHARS_OF_KEY = 60;

  /** Values by key, as in {@link SeriesDefinition#values}. */
  private final Map<Long, List<String>> series = new LinkedHashMap<>();

  /** Texts that series share. */
  private final Map<String, String> texts = new HashMap<>();

  private final Map<QueueId, KeyEstimate> queues = new HashMap<>();

  /** Kind and status of a span as one number: at most a few. */
  private final Set<Integer> kindsAndStatuses = new HashSet<>();

  /**
   * Adds a span.
   *
   * @param queue one that was added
   * @param key of its series
   * @param isSample whether it is a whole copy of an incomplete span
   * @return number of new keys: 0 or 1
   */
  int add(QueueId queue, long key, boolean isSample) {
    KeyEstimate ofQueue = queues.get(queue);
    return isSample ? ofQueue.addSample(key) : ofQueue.add(key);
  }

  /** Returns whether the values of a series are known. */
  boolean has(long key) {
    return series.containsKey(key);
  }

  /**
   * Sets the values of a series.
   *
   * @param values as in {@link SeriesDefinition#values}
   * @return number of new keys
   */
  int define(long key, String[] values) {
    int keys = KEYS_OF_SERIES;
    for (int i = 0; i < values.length; i++) {
      String text = values[i];
      String same = text == null ? null : texts.putIfAbsent(text, text);
      if (same != null) {
        values[i] = same;
      } else if (text != null) {
        keys += 2 + text.length() / CHARS_OF_KEY;
      }
    }
    series.put(key, Arrays.asList(values));
    return keys;
  }

  /** Adds the kind and the status of any span, also of one in a group. */
  void addKindAndStatus(int kindAndStatus) {
    kindsAndStatuses.add(kindAndStatus);
  }

  /** Adds a queue with spans of the application. */
  void addQueue(QueueId queue) {
    queues.computeIfAbsent(queue, each -> new KeyEstimate());
  }

  /** Returns the number of queues with spans of the application. */
  int queues() {
    return queues.size();
  }

  /** Returns the series of each queue, estimated. */
  Map<QueueId, Long> ofQueues(double spansPerSample) {
    Map<QueueId, Long> series = new HashMap<>();
    queues.forEach((queue, keys) -> series.put(queue, keys.keys(spansPerSample)));
    return series;
  }

  /**
   * Returns some series, numbered from 0.
   *
   * @param most maximum number
   */
  List<SeriesDefinition> some(int most) {
    List<SeriesDefinition> some = new ArrayList<>();
    for (List<String> values : series.values()) {
      if (some.size() == most) {
        break;
      }
      some.add(new SeriesDefinition(some.size(), 0, false, values));
    }
    return some;
  }

  /**
   * Returns the number of kinds or statuses, as pages show them.
   *
   * @param label position of either in {@link SeriesDefinition#values}
   * @param shown returns a value as pages show it
   */
  long values(int label, UnaryOperator<String> shown) {
    return kindsAndStatuses.stream()
        .map(each ->
            label == SeriesDefinition.SPAN_KIND ? SeriesTable.kind(each) : SeriesTable.status(each))
        .map(value -> shown.apply(Integer.toString(value)))
        .distinct()
        .count();
  }

  /**
   * Returns the series without a label, estimated.
   *
   * @param label position in {@link SeriesDefinition#values}
   * @param isCertain whether a series counts once, by its key
   */
  long without(int label, LongPredicate isCertain, double spansPerSample) {
    KeyEstimate rest = new KeyEstimate();
    series.forEach((key, values) -> {
      long hash = hashWithout(label, values);
      if (isCertain.test(key)) {
        rest.add(hash);
      } else {
        rest.addSample(hash);
      }
    });
    return rest.keys(spansPerSample);
  }

  private static long hashWithout(int label, List<String> values) {
    Hasher hasher = Hashing.farmHashFingerprint64().newHasher();
    for (int i = 0; i < values.size(); i++) {
      String value = i == label ? null : values.get(i);
      hasher.putInt(value == null ? -1 : value.length());
      hasher.putUnencodedChars(value == null ? "" : value);
    }
    return hasher.hash().asLong();
  }

  /**
   * Returns the values of a label with most series, the most first.
   *
   * @param label position in {@link SeriesDefinition#values}
   * @param shown returns a value as pages show it
   * @param isCertain whether a series counts once, by its key
   * @param most maximum number
   */
  List<RulesCost.Value> top(
      int label,
      UnaryOperator<String> shown,
      LongPredicate isCertain,
      double spansPerSample,
      int most) {
    Map<String, double[]> ofValues = new HashMap<>();
    double uncertain = Math.sqrt(spansPerSample);
    series.forEach((key, values) -> {
      if (values.get(label) != null) {
        ofValues.computeIfAbsent(shown.apply(values.get(label)), value -> new double[1])[0] +=
            isCertain.test(key) ? 1 : uncertain;
      }
    });
    return ofValues.entrySet().stream()
        .map(entry -> new RulesCost.Value(entry.getKey(), Math.round(entry.getValue()[0])))
        .sorted(
            Comparator.comparingLong(RulesCost.Value::series)
                .reversed()
                .thenComparing(RulesCost.Value::value))
        .limit(most)
        .toList();
  }
}
