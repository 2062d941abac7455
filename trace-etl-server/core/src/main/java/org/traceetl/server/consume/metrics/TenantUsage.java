package org.traceetl.server.consume.metrics;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/**
 * What tenants used on this server. A window counts for the tenants that are in force when it is
 * sealed, so a changed file decreases no counter. Bounded by the number of tenants; one that is no
 * longer in force is removed. Thread-safe.
 */
public final class TenantUsage implements WindowFollower {
  private static final String LABEL = "tenant";

  /** Applications whose tenants are remembered. */
  private static final int MAX_REMEMBERED = 100_000;

  /** What windows and workers added for a tenant. */
  private static final class Usage {
    private final LongAdder spans = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder documents = new LongAdder();
    private final LongAdder overflowed = new LongAdder();
    private final LongAdder heldBack = new LongAdder();
  }

  private final Map<String, Usage> usages = new ConcurrentHashMap<>();

  /** Numbers of tenants by application. */
  private final Map<String, Integer> tenantOf = new HashMap<>();

  private Tenants inForce = Tenants.NONE;

  /** Series of each tenant by queue. */
  private final Map<QueueId, Map<String, Integer>> series = new ConcurrentHashMap<>();

  /** Registers its metrics. */
  public void register(MetricRegistry registry) {
    counter(
        registry,
        "spans",
        "Spans received of a tenant's applications, without duplicates.",
        usage -> usage.spans);
    counter(
        registry,
        "bytes",
        "Bytes of the batches of a tenant's applications as they were sent, without duplicates.",
        usage -> usage.bytes);
    counter(
        registry,
        "documents",
        "Documents of a tenant's applications, exemplars included.",
        usage -> usage.documents);
    counter(
        registry,
        "overflowed_spans",
        "Spans counted in overflow series while their tenant was at its limit of series.",
        usage -> usage.overflowed);
    counter(
        registry,
        "documents_held_back",
        "Slow or failed spans without a document because of their tenant's limit.",
        usage -> usage.heldBack);
    registry.gauge(
        "trace_etl_tenant_series",
        "Series of a tenant's applications on this server's queues, without overflow series and"
            + " variances.",
        LABEL,
        this::series);
  }

  private void counter(
      MetricRegistry registry, String what, String help, Function<Usage, LongAdder> of) {
    registry.counter(
        "trace_etl_tenant_" + what + "_total",
        help,
        LABEL,
        () -> {
          Map<String, Long> values = new TreeMap<>();
          usages.forEach((tenant, usage) -> values.put(tenant, of.apply(usage).sum()));
          return values;
        });
  }

  private Map<String, Integer> series() {
    Map<String, Integer> sums = new TreeMap<>();
    series
        .values()
        .forEach(its -> its.forEach((name, count) -> sums.merge(name, count, Integer::sum)));
    return sums;
  }

  @Override
  public synchronized void window(SealedWindow window) {
    if (inForce.size() == 0) {
      return;
    }
    for (Books books : window.books()) {
      Usage usage = usageOf(books.application());
      if (usage != null) {
        usage.spans.add(books.received() - books.duplicate());
        usage.bytes.add(books.bytes());
      }
    }
    for (TraceDocument document : window.documents()) {
      Usage usage = usageOf(document.application());
      if (usage != null) {
        usage.documents.increment();
      }
    }
    // Applications that are gone would stay in memory.
    if (tenantOf.size() > MAX_REMEMBERED) {
      tenantOf.clear();
    }
  }

  /** Sets the tenants in force. */
  public synchronized void tenants(Tenants now) {
    inForce = now;
    tenantOf.clear();
    Set<String> names = new HashSet<>();
    for (int tenant = 0; tenant < now.size(); tenant++) {
      names.add(now.get(tenant).name());
    }
    names.forEach(name -> usages.computeIfAbsent(name, absent -> new Usage()));
    usages.keySet().retainAll(names);
  }

  /** Returns null for an application without a tenant. */
  private Usage usageOf(String application) {
    int tenant = tenantOf.computeIfAbsent(application, inForce::of);
    return tenant == Tenants.NO_TENANT ? null : usages.get(inForce.get(tenant).name());
  }

  /** Sets the series of a queue by tenant. */
  public void series(QueueId queue, Map<String, Integer> byTenant) {
    series.put(queue, byTenant);
  }

  /**
   * Counts what a batch lacks because of the limits of its tenant.
   *
   * @param overflowed spans
   * @param heldBack documents
   */
  public void limited(String tenant, int overflowed, int heldBack) {
    Usage usage = usages.get(tenant);
    if (usage != null) {
      usage.overflowed.add(overflowed);
      usage.heldBack.add(heldBack);
    }
  }

  @Override
  public void released(QueueId queue) {
    series.remove(queue);
  }
}
