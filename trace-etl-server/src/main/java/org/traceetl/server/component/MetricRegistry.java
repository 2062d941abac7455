package org.traceetl.server.component;

import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/** Where components register their metrics. Values are read at each scrape, from any thread. */
public interface MetricRegistry {
  /** Adds a gauge that is read when it is asked for. */
  void gauge(String name, String help, DoubleSupplier value);

  /** Adds a gauge with one label, all of whose values are read when it is asked for. */
  void gauge(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values);

  /** Adds a counter that is kept elsewhere; its name ends in {@code _total}. */
  void counter(String name, String help, DoubleSupplier value);

  /** Adds a counter with one label that is kept elsewhere; its name ends in {@code _total}. */
  void counter(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values);

  /** Adds a histogram; its name begins with {@code trace_etl_} and ends in {@code _seconds}. */
  Timer timer(String name, String help);
}
