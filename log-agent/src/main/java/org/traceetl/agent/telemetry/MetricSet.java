package org.traceetl.agent.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.Counter;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.prometheus.client.Histogram;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * The metrics of a part of the agent. The part counts in it; the start-up code registers it. All
 * names get the prefix {@code trace_etl_agent_}. Safe for any thread.
 */
public abstract class MetricSet extends Collector {
  private final List<Supplier<List<MetricFamilySamples>>> families = new CopyOnWriteArrayList<>();

  /** Adds a counter, which is 0 at first. */
  protected final Counter counter(String name, String help, String... labels) {
    Counter counter = Counter.build(prefixed(name), help).labelNames(labels).create();
    families.add(counter::collect);
    return counter;
  }

  /** Adds a counter without labels, for code that must not depend on the metrics library. */
  protected final LongAdder adder(String name, String help) {
    LongAdder adder = new LongAdder();
    counter(name, help, "", Map.of("", adder::sum));
    return adder;
  }

  /** Adds such a counter with label {@code reason}; its values are the names in lower case. */
  protected final <E extends Enum<E>> Map<E, LongAdder> adders(
      Class<E> reasons, String name, String help) {
    Map<E, LongAdder> adders = new EnumMap<>(reasons);
    Map<String, DoubleSupplier> values = new LinkedHashMap<>();
    for (E reason : reasons.getEnumConstants()) {
      LongAdder adder = new LongAdder();
      adders.put(reason, adder);
      values.put(reason.name().toLowerCase(Locale.ROOT), adder::sum);
    }
    counter(name, help, "reason", values);
    return adders;
  }

  /** Adds a histogram without labels. */
  protected final Histogram histogram(String name, String help, double... buckets) {
    Histogram histogram = Histogram.build(prefixed(name), help).buckets(buckets).create();
    families.add(histogram::collect);
    return histogram;
  }

  /** Adds a gauge that is read at each scrape. */
  public final void gauge(String name, String help, DoubleSupplier value) {
    families.add(() -> List.of(new GaugeMetricFamily(prefixed(name), help, value.getAsDouble())));
  }

  /** Adds a gauge for each value of a label, read at each scrape. */
  public final void gauge(
      String name, String help, String label, Map<String, DoubleSupplier> values) {
    families.add(() -> {
      GaugeMetricFamily family = new GaugeMetricFamily(prefixed(name), help, List.of(label));
      values.forEach((key, value) -> family.addMetric(List.of(key), value.getAsDouble()));
      return List.of(family);
    });
  }

  /**
   * Adds a counter whose value is read at each scrape.
   *
   * @param label the only label, or empty
   * @param values values by the label's values; without a label, one value under any key
   */
  public final void counter(
      String name, String help, String label, Map<String, DoubleSupplier> values) {
    List<String> labels = label.isEmpty() ? List.of() : List.of(label);
    families.add(() -> {
      CounterMetricFamily family = new CounterMetricFamily(prefixed(name), help, labels);
      values.forEach((key, value) ->
          family.addMetric(labels.isEmpty() ? List.of() : List.of(key), value.getAsDouble()));
      return List.of(family);
    });
  }

  /** Adds all metrics of a part. */
  final void include(MetricSet part) {
    families.add(part::collect);
  }

  private static String prefixed(String name) {
    return "trace_etl_agent_" + name;
  }

  @Override
  public List<MetricFamilySamples> collect() {
    return families.stream().flatMap(family -> family.get().stream()).toList();
  }
}
