package org.traceetl.server.consume.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.TraceDocument;

class TenantUsageTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 0);

  private final MetricRegistry registry = new MetricRegistry();
  private final TenantUsage usage = new TenantUsage();

  private Double value(String what, String tenant) {
    return registry
        .collectors()
        .getSampleValue("trace_etl_tenant_" + what, new String[] {"tenant"}, new String[] {tenant});
  }

  private static Tenants tenants(String... patterns) {
    return new Tenants(
        Stream.of(patterns)
            .map(pattern ->
                new Tenants.Tenant(
                    pattern.replace("*", ""),
                    List.of(pattern),
                    Integer.MAX_VALUE,
                    Integer.MAX_VALUE))
            .toList());
  }

  private void window(QueueId queue, String application) {
    TraceDocument document =
        new TraceDocument(
            "0af7651916cd43dd8448eb211c803191",
            "b7ad6b7169203331",
            application,
            "GET /",
            2,
            2,
            "",
            1,
            1,
            TraceDocument.Reason.ERROR,
            Map.of());
    usage.window(
        new RowlessWindow(queue, 0, 10, 0, 15_000)
            .books(List.of(new Books(application, 7, 4, 0, 0, 3, Map.of(), 0).withBytes(99)))
            .documents(List.of(document, document))
            .seal());
  }

  @Test
  void windowsCountForTheFirstTenantInForce() {
    usage.register(registry);
    usage.tenants(tenants("shop", "s*"));
    assertThat(value("spans_total", "shop")).isZero();
    window(A, "shop");
    window(B, "ships");
    window(B, "bank");
    window(B, "_other");

    assertThat(value("spans_total", "shop")).isEqualTo(4);
    assertThat(value("bytes_total", "shop")).isEqualTo(99);
    assertThat(value("documents_total", "shop")).isEqualTo(2);
    assertThat(value("spans_total", "s")).isEqualTo(4);
  }

  @Test
  void aChangedFileDecreasesNoCounter() {
    usage.register(registry);
    usage.tenants(tenants("shop", "s*"));
    window(A, "shop");

    usage.tenants(tenants("s*", "shop"));
    window(A, "shop");
    assertThat(value("spans_total", "shop")).isEqualTo(4);
    assertThat(value("spans_total", "s")).isEqualTo(4);

    usage.tenants(tenants("s*"));
    assertThat(value("spans_total", "shop")).isNull();
    assertThat(value("spans_total", "s")).isEqualTo(4);
  }

  @Test
  void seriesAreThoseOfOwnedQueues() {
    usage.register(registry);
    usage.tenants(tenants("shop"));
    usage.series(A, Map.of("shop", 3));
    usage.series(B, Map.of("shop", 4));
    assertThat(value("series", "shop")).isEqualTo(7);

    usage.released(A);
    assertThat(value("series", "shop")).isEqualTo(4);
  }

  @Test
  void limitsAreCounted() {
    usage.register(registry);
    usage.tenants(tenants("shop"));
    usage.limited("shop", 5, 6);
    usage.limited("gone", 5, 6);

    assertThat(value("overflowed_spans_total", "shop")).isEqualTo(5);
    assertThat(value("documents_held_back_total", "shop")).isEqualTo(6);
    assertThat(value("overflowed_spans_total", "gone")).isNull();
  }

  @Test
  void reportsOfATenantDoNotDisplaceThoseOfAnother() {
    var reports = new CardinalityReports();
    reports.tenants(tenants("shop", "noisy-*"));
    reports.report(A, crowded("shop"));
    IntStream.range(0, 1_200).forEach(i -> reports.report(A, crowded("noisy-" + i)));

    assertThat(reports.all())
        .hasSize(1_000)
        .extracting(report -> report.cardinality().application())
        .contains("shop", "noisy-1199")
        .doesNotContain("noisy-0");
  }

  private static Cardinality crowded(String application) {
    return new Cardinality(
        application,
        "max",
        9,
        9,
        0,
        0,
        List.of(new Cardinality.Dimension("span_name", 9, List.of())),
        0);
  }
}
