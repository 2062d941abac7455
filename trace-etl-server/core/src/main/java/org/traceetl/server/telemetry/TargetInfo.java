package org.traceetl.server.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The targets whose spans this process counts: the distinct values of the configured attributes of
 * resources, as the family {@code traces_target_info}. A target has the value 1 until it had no
 * batch for the idle time. It is not in the journal: after a take-over, it appears with its next
 * batch. Thread-safe.
 */
public final class TargetInfo implements WindowFollower {
  /** Maximum number of targets, counted on each queue. */
  static final int MAX_TARGETS = 10_000;

  /** Maximum length of their values. */
  private static final long MAX_LENGTH = 16L << 20;

  private static final String NAME = "traces_target_info";

  private final List<String> attributes;
  private final long idleMillis;

  /** Label names with underscores. */
  private final List<String> names;

  /** Label names for pages with UTF-8 names, as they are. */
  private final List<String> utf8Names;

  private final LongAdder leftOut = new LongAdder();

  /** By queue that this process owns, then by values. Guarded by this. */
  private final Map<QueueId, Map<List<String>, Target>> queues = new LinkedHashMap<>();

  /** Targets of all queues, and the length of their values. Written under the lock. */
  private volatile int count;

  private volatile long length;

  /** A target of one queue. Marked by the queue's worker. */
  public static final class Target {
    private volatile long lastMillis;
    private volatile boolean removed;

    private final int length;

    private Target(List<String> values, long nowMillis) {
      length = values.stream().mapToInt(String::length).sum();
      lastMillis = nowMillis;
    }

    /** Records a batch; returns false if the target is removed and must be added again. */
    public boolean seen(long nowMillis) {
      if (removed) {
        return false;
      }
      lastMillis = nowMillis;
      return true;
    }

    /** Returns whether the target is removed for good. */
    public boolean isRemoved() {
      return removed;
    }
  }

  /**
   * @param idle time without a batch after which a target is removed
   */
  public TargetInfo(MetricsConfig metrics, Duration idle) {
    attributes = metrics.targetInfo();
    idleMillis = idle.toMillis();
    names = new ArrayList<>(List.of(metrics.profile().labels().getFirst()));
    attributes.forEach(attribute -> names.add(MetricsConfig.underscored(attribute)));
    utf8Names = new ArrayList<>(names);
    for (int i = 0; metrics.names() == MetricsConfig.Names.UTF_8 && i < attributes.size(); i++) {
      utf8Names.set(i + 1, attributes.get(i));
    }
  }

  /** Registers the number of targets. */
  public void register(MetricRegistry registry) {
    registry.gauge("trace_etl_targets", "Targets in traces_target_info.", () -> count);
    registry.counter(
        "trace_etl_target_batches_left_out_total",
        "Batches whose target is not in traces_target_info because there are too many.",
        leftOut::sum);
  }

  /** Returns the configured attributes; if empty, there are no targets. */
  public List<String> attributes() {
    return attributes;
  }

  /** Returns whether a target may be added; if not because of the limit, counts its batch. */
  public boolean hasRoom() {
    if (count < MAX_TARGETS && length < MAX_LENGTH) {
      return true;
    }
    leftOut.increment();
    return false;
  }

  /**
   * Adds a target of a queue.
   *
   * @param values the application, then a value for each attribute, empty if absent
   * @return null if this process does not own the queue
   */
  public synchronized Target add(QueueId queue, List<String> values, long nowMillis) {
    Map<List<String>, Target> ofQueue = queues.get(queue);
    if (ofQueue == null) {
      return null;
    }
    Target target = ofQueue.get(values);
    if (target == null) {
      target = new Target(values, nowMillis);
      ofQueue.put(values, target);
      count++;
      length += target.length;
    }
    target.lastMillis = nowMillis;
    return target;
  }

  /** From now on the queue's targets are shown. */
  @Override
  public synchronized void restored(QueueId queue, QueueImage image, long showFromNanos) {
    queues.putIfAbsent(queue, new HashMap<>());
  }

  /** Removes the queue's targets without a batch in the idle time. */
  @Override
  public synchronized void window(SealedWindow window) {
    Map<List<String>, Target> ofQueue = queues.get(window.queue());
    if (ofQueue != null) {
      ofQueue
          .values()
          .removeIf(target -> {
            target.removed = window.sealedMillis() - target.lastMillis > idleMillis;
            return target.removed;
          });
      recount();
    }
  }

  @Override
  public synchronized void released(QueueId queue) {
    Map<List<String>, Target> left = queues.remove(queue);
    if (left != null) {
      left.values().forEach(target -> target.removed = true);
      recount();
    }
  }

  private void recount() {
    int targets = 0;
    long text = 0;
    for (Map<List<String>, Target> ofQueue : queues.values()) {
      targets += ofQueue.size();
      for (Target target : ofQueue.values()) {
        text += target.length;
      }
    }
    count = targets;
    length = text;
  }

  /** Adds the family to those of a page, unless no attribute is configured. */
  void addTo(List<MetricFamilySamples> families, Format format) {
    if (attributes.isEmpty()) {
      return;
    }
    List<String> labels = names(format);
    List<Sample> samples = new ArrayList<>();
    distinct().forEach(values -> samples.add(new Sample(NAME, labels, values, 1)));
    families.add(
        new MetricFamilySamples(
            NAME,
            "",
            Collector.Type.GAUGE,
            "Resources with spans and their configured attributes; always 1.",
            samples));
  }

  private List<String> names(Format format) {
    if (!format.hasUtf8Names()) {
      return names;
    }
    // Text needs quotes; the library writes names as they are.
    return format.isProtobuf() ? utf8Names : utf8Names.stream().map(LabelText::name).toList();
  }

  /** Two queues may have the same target. */
  private synchronized Set<List<String>> distinct() {
    Set<List<String>> distinct = new LinkedHashSet<>();
    queues.values().forEach(ofQueue -> distinct.addAll(ofQueue.keySet()));
    return distinct;
  }
}
