package org.traceetl.server.component;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.prometheus.client.Histogram;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/** Registers the components' metrics. Values are read at each scrape, from any thread. */
public class MetricRegistry {
  private static final double[] SECONDS = {
    0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5
  };

  private static final String PREFIX = "trace_etl_";
  private static final String SUFFIX = "_seconds";

  private final CollectorRegistry collectors = new CollectorRegistry();
  private final List<Timer> timers = new CopyOnWriteArrayList<>();

  /** Returns the registry of collectors that the other methods do not support. */
  public final CollectorRegistry collectors() {
    return collectors;
  }

  /** Adds a histogram; its name begins with {@code trace_etl_} and ends in {@code _seconds}. */
  public final Timer timer(String name, String help) {
    Timer timer =
        new Timer(
            name.substring(PREFIX.length(), name.length() - SUFFIX.length()).replace('_', ' '),
            Histogram.build(name, help).buckets(SECONDS).register(collectors));
    timers.add(timer);
    return timer;
  }

  /** Returns the timers in the order in which they were added. */
  public final List<Timer> timers() {
    return List.copyOf(timers);
  }

  /** Adds a gauge whose value is read at each scrape. */
  public final void gauge(String name, String help, DoubleSupplier value) {
    collector(() -> new GaugeMetricFamily(name, help, value.getAsDouble()));
  }

  /** Adds a gauge with one label, whose values are read at each scrape. */
  public final void gauge(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values) {
    collector(() -> {
      var family = new GaugeMetricFamily(name, help, List.of(label));
      values.get().forEach((key, value) -> family.addMetric(List.of(key), value.doubleValue()));
      return family;
    });
  }

  /** Adds a counter whose value is read at each scrape; its name ends in {@code _total}. */
  public final void counter(String name, String help, DoubleSupplier value) {
    collector(() -> new CounterMetricFamily(name, help, value.getAsDouble()));
  }

  /** Adds a counter with one label, read at each scrape; its name ends in {@code _total}. */
  public final void counter(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values) {
    collector(() -> {
      var family = new CounterMetricFamily(name, help, List.of(label));
      values.get().forEach((key, value) -> family.addMetric(List.of(key), value.doubleValue()));
      return family;
    });
  }

  /**
   * Adds families that are created at each scrape, under other names.
   *
   * @param prefix replaces {@code trace_etl_} in their names
   */
  public final void include(
      Supplier<? extends List<Collector.MetricFamilySamples>> families, String prefix) {
    new Collector() {
      @Override
      public List<MetricFamilySamples> collect() {
        return families.get().stream().map(family -> renamed(family, prefix)).toList();
      }
    }.register(collectors);
  }

  private static Collector.MetricFamilySamples renamed(
      Collector.MetricFamilySamples family, String prefix) {
    return new Collector.MetricFamilySamples(
        renamed(family.name, prefix),
        family.unit,
        family.type,
        family.help,
        family.samples.stream()
            .map(sample ->
                new Collector.MetricFamilySamples.Sample(
                    renamed(sample.name, prefix),
                    sample.labelNames,
                    sample.labelValues,
                    sample.value,
                    sample.timestampMs))
            .toList());
  }

  private static String renamed(String name, String prefix) {
    return prefix + name.substring(PREFIX.length());
  }

  /** Adds a family that is created at each scrape. */
  public final void collector(Supplier<Collector.MetricFamilySamples> family) {
    new Collector() {
      @Override
      public List<MetricFamilySamples> collect() {
        return List.of(family.get());
      }
    }.register(collectors);
  }
}
