package org.traceetl.server.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Rejection;
import org.traceetl.server.consume.metrics.CardinalityReports;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.expose.Format;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.testkit.Programs;

class ServerTelemetryTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);

  private final ServerTelemetry telemetry = new ServerTelemetry("1.2.3", Duration.ofMinutes(15));
  private final SpanPipelineMetrics metrics = new SpanPipelineMetrics(telemetry);

  @Test
  void booksOfWindowsAddUp() {
    telemetry.books().window(window(0, books("shop", 10)));
    telemetry.books().window(window(15_000, books("shop", 10), books("cart", 10)));

    assertThat(text())
        .contains("trace_etl_spans_received_total{application=\"shop\",} 20.0\n")
        .contains("trace_etl_spans_recorded_total{application=\"shop\",} 8.0\n")
        .contains("trace_etl_spans_overflowed_total{application=\"shop\",} 4.0\n")
        .contains("trace_etl_spans_filtered_total{application=\"shop\",} 2.0\n")
        .contains("trace_etl_spans_duplicate_total{application=\"shop\",} 2.0\n")
        .contains(
            "trace_etl_spans_rejected_total{application=\"shop\",reason=\"truncated\",} 4.0\n")
        .contains("trace_etl_documents_held_back_total{application=\"shop\",} 6.0\n")
        .contains("trace_etl_spans_received_total{application=\"cart\",} 10.0\n")
        .contains("trace_etl_windows_total 2.0\n");
  }

  @Test
  void idleApplicationsLeave() {
    telemetry.books().window(window(0, books("old", 10), books("steady", 10)));
    telemetry.books().window(window(600_000, books("steady", 10)));
    telemetry.books().window(window(900_001, books("steady", 10)));

    assertThat(text())
        .contains("application=\"steady\"")
        .doesNotContain("application=\"old\"")
        .contains("trace_etl_spans_rejected_total{application=\"\",reason=\"malformed\",} 0.0\n");
  }

  @Test
  void applicationsAreBounded() {
    for (int i = 0; i < 10_010; i++) {
      telemetry.books().window(window(i, books("app-" + i, 10)));
    }

    assertThat(text().lines().filter(l -> l.startsWith("trace_etl_spans_received_total{")))
        .hasSize(10_000);
  }

  @Test
  void pipelineIsCountedAndTimed() {
    metrics.accepted(100);
    metrics.duplicate(10);
    metrics.rejected(1, Rejection.TRUNCATED);
    metrics.swapped(QUEUE, 20_000);

    assertThat(text())
        .contains("trace_etl_received_bytes_total 111.0\n")
        .contains("trace_etl_batches_accepted_total 1.0\n")
        .contains("trace_etl_batches_duplicate_total 1.0\n")
        .contains("trace_etl_batches_rejected_total{reason=\"truncated\",} 1.0\n")
        .contains("trace_etl_swap_seconds_sum 2.0E-5\n");
  }

  @Test
  void anApplicationAtALimitIsToldWithItsCulpritUntilItIsNoMore() {
    CardinalityReports reports = metrics.cardinality();
    metrics.crowded(QUEUE, cardinality("shop", 7, 1_000));
    metrics.crowded(QUEUE, cardinality("near", 0, 1_000));
    reports.window(window(2_000, books("shop", 10)));
    metrics.crowded(QUEUE, cardinality("shop", 9, 3_000));

    assertThat(text())
        .contains("trace_etl_cardinality_culprit{application=\"shop\",dimension=\"user\",} 90.0\n")
        .doesNotContain("application=\"near\"");
    assertThat(reports.all())
        .extracting(report -> report.cardinality().application())
        .containsExactlyInAnyOrder("shop", "near");

    reports.window(window(3_000 + 15 * 60_000, books("shop", 10)));
    assertThat(reports.all()).hasSize(1);
    reports.released(QUEUE);
    assertThat(reports.all()).isEmpty();
  }

  @Test
  void reportsAreBounded() {
    for (int i = 0; i < 3_000; i++) {
      metrics.crowded(QUEUE, cardinality("app" + i, 7, 1_000));
    }

    assertThat(metrics.cardinality().all()).hasSize(1_000);
    assertThat(text().lines().filter(l -> l.startsWith("trace_etl_cardinality_culprit{")))
        .hasSize(100);
  }

  private static Cardinality cardinality(String application, long overflowed, long atMillis) {
    return new Cardinality(
        application,
        "max-per-application",
        100,
        100,
        overflowed,
        0,
        List.of(
            new Cardinality.Dimension("span_name", 3, List.of()),
            new Cardinality.Dimension("user", 90, List.of("u1", "u2"))),
        atMillis);
  }

  @Test
  void everyReadingBalancesWhileWindowsAreBooked() throws Exception {
    int windows = 20_000;
    Thread booking =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; i < windows; i++) {
                telemetry.books().window(window(i, books("shop", 10)));
              }
            });
    while (booking.isAlive()) {
      Map<String, Double> shop =
          text()
              .lines()
              .filter(l -> l.startsWith("trace_etl_spans_") && l.contains("\"shop\""))
              .collect(
                  Collectors.toMap(
                      l -> l.substring("trace_etl_spans_".length(), l.indexOf("_total")),
                      l -> Double.valueOf(l.substring(l.indexOf(' ')))));
      double received = shop.getOrDefault("received", 0.0);
      shop.remove("received");

      assertThat(shop.values().stream().mapToDouble(d -> d).sum()).isEqualTo(received);
    }
    booking.join();
    assertThat(text()).contains("trace_etl_spans_received_total{application=\"shop\",} 200000.0\n");
  }

  @Test
  void readingChangesNothing() {
    telemetry.gauge("trace_etl_test", "A gauge.", "queue", () -> Map.of("b/0", 3));
    telemetry.books().window(window(0, books("shop", 10)));

    assertThat(own(telemetry.families(Format.OPENMETRICS)))
        .isEqualTo(own(telemetry.families(Format.OPENMETRICS)));
    assertThat(text()).contains("trace_etl_test{queue=\"b/0\",} 3.0\n").doesNotContain("_created");
    assertThat(new String(telemetry.families(Format.OPENMETRICS), UTF_8)).endsWith("# EOF\n");
  }

  @Test
  void aMetricIsOneLineOfOpenMetrics2() {
    telemetry.books().window(window(0, books("s\"h\\o\np", 10)));
    telemetry.gauge("trace_etl_test", "A gauge.", "queue", () -> Map.of("b/0", 3));
    telemetry.counter("trace_etl_tests_total", "A counter.", () -> 1);
    telemetry.timer("trace_etl_test_seconds", "A timer.").recordNanos(20_000);

    String page = new String(telemetry.families(Format.OPENMETRICS_2), UTF_8);
    assertThat(page)
        .contains("# HELP trace_etl_test A gauge.\n# TYPE trace_etl_test gauge\n")
        .contains("trace_etl_test{queue=\"b/0\"} 3.0\n")
        .contains("# TYPE trace_etl_tests_total counter\ntrace_etl_tests_total 1.0")
        .contains("# TYPE trace_etl_test_seconds histogram\n")
        .contains("trace_etl_test_seconds {count:1,sum:2.0E-5,bucket:[1.0E-5:0,1.0E-4:1,5.0E-4:1")
        .contains("trace_etl_spans_received_total{application=\"s\\\"h\\\\o\\np\"} 10.0")
        .doesNotContain("_created")
        .endsWith("\n# EOF\n");
    assertThat(
            page.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.replaceAll("^([^ {]*(\\{[^}]*})?) .*", "$1")))
        .doesNotHaveDuplicates();
  }

  @Test
  void promtoolFindsNothing() throws Exception {
    telemetry.books().window(window(0, books("shop", 10)));
    telemetry.counter("trace_etl_test_total", "A counter.", () -> 1);
    telemetry.timer("trace_etl_test_seconds", "A timer.").recordNanos(1);
    Optional<Path> promtool = Programs.find("promtool");
    if (promtool.isEmpty()) {
      return;
    }
    Process process =
        new ProcessBuilder(promtool.get().toString(), "check", "metrics")
            .redirectErrorStream(true)
            .start();
    try (var in = process.getOutputStream()) {
      in.write(telemetry.families(Format.TEXT));
    }

    assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).isEmpty();
    assertThat(process.waitFor()).isZero();
  }

  /** Returns the metrics without the JVM's, which change by themselves. */
  private static List<String> own(byte[] families) {
    return new String(families, UTF_8).lines().filter(l -> l.contains("trace_etl_")).toList();
  }

  private String text() {
    return new String(telemetry.families(Format.TEXT), UTF_8);
  }

  /** Returns balanced books of ten spans. */
  private static Books books(String application, long received) {
    return new Books(application, received, 4, 2, 1, 1, Map.of("truncated", 2L), 3);
  }

  private static SealedWindow window(long sealedMillis, Books... books) {
    return new RowlessWindow(QUEUE, 0, 1, 0, sealedMillis)
        .stride(17)
        .schema(0)
        .books(List.of(books))
        .seal();
  }
}
