package org.traceetl.server.component;

import com.google.common.collect.Lists;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.traceetl.server.rocketmq.Endpoint;

/** The components of a server, started in the order of the list, drained and closed in reverse. */
public final class Components implements AutoCloseable {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final List<Component> inOrder;
  private final LongSupplier nanoClock;

  /** Registers the metrics of each component. */
  public Components(
      MetricRegistry registry, List<? extends Component> inOrder, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.inOrder = List.copyOf(inOrder);
    inOrder.forEach(component -> component.metrics(registry));
  }

  /** Returns the components of a type, in order. */
  public <T extends Component> List<T> of(Class<T> type) {
    return inOrder.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Starts all components. Call it once. */
  public void start(Endpoint here) {
    inOrder.forEach(component -> component.start(here));
  }

  /** Returns whether all components are healthy. Never waits. */
  public boolean healthy() {
    return inOrder.stream().allMatch(Component::healthy);
  }

  /** Returns whether all components are ready. Never waits. */
  public boolean ready() {
    return inOrder.stream().allMatch(Component::ready);
  }

  /** Returns what the components lack, and why. Never waits. */
  public Map<String, String> missing() {
    Map<String, String> missing = new TreeMap<>();
    inOrder.forEach(component -> missing.putAll(component.missing()));
    return missing;
  }

  /** Drains all components in reverse order, within this time in total. */
  public void drain(Duration within) {
    long deadlineNanos = nanoClock.getAsLong() + within.toNanos();
    try {
      for (Component component : Lists.reverse(inOrder)) {
        long leftNanos = Math.max(0, deadlineNanos - nanoClock.getAsLong());
        component.drain(Duration.ofMillis(Math.ceilDiv(leftNanos, NANOS_PER_MILLI)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    Lists.reverse(inOrder).forEach(Component::close);
  }
}
