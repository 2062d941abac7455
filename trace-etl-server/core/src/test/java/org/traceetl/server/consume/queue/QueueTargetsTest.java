package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Names;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.expose.Format;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.telemetry.TargetInfo;
import org.traceetl.server.window.QueueId;

class QueueTargetsTest {
  private static final Duration IDLE = Duration.ofMinutes(1);
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final QueueId OTHER = new QueueId("b", 1);
  private static final String HEADER =
      "# HELP traces_target_info Resources with spans and their configured attributes; always 1.\n"
          + "# TYPE traces_target_info gauge\n";
  private static final int MAX_TARGETS = 10_000;

  private final ServerTelemetry telemetry = new ServerTelemetry("1", IDLE);
  private final TargetInfo info =
      new TargetInfo(
          new MetricsConfig(
              null, null, null, null, Names.UTF_8, List.of("k8s.cluster.name", "version"), null),
          IDLE);
  private final Aggregation aggregation = Aggregation.builder(() -> 7).targets(info).build();
  private long sequence;
  private long offset;

  QueueTargetsTest() {
    telemetry.show(info);
  }

  private QueueAggregator owner(QueueId queue) {
    info.restored(queue, null, 0);
    QueueAggregator aggregator =
        aggregation.newAggregator(queue, aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
    return aggregator;
  }

  /**
   * @param resource keys and values
   */
  private void accept(
      QueueAggregator aggregator, long nowMillis, String application, String... resource) {
    BatchMessage batch = new BatchMessage(application);
    for (int i = 0; i < resource.length; i += 2) {
      batch.resource(resource[i], resource[i + 1]);
    }
    aggregator.accept(batch.span("GET", 1_000).message(sequence++), nowMillis);
  }

  private void seal(QueueAggregator aggregator, long nowMillis) {
    info.window(SealedWindows.seal(aggregator, ++offset, nowMillis));
  }

  private String page(Format format) {
    return new String(telemetry.families(format), UTF_8);
  }

  private List<String> targets() {
    return page(Format.TEXT)
        .lines()
        .filter(line -> line.startsWith("traces_target_info{"))
        .toList();
  }

  private static String target(String application, String cluster, String version) {
    return "traces_target_info{service_name=\""
        + application
        + "\",k8s_cluster_name=\""
        + cluster
        + "\",version=\""
        + version
        + "\",} 1.0";
  }

  @Test
  void distinctValuesOfConfiguredAttributesAreTargets() {
    QueueAggregator aggregator = owner(QUEUE);
    accept(aggregator, 0, "shop", "k8s.cluster.name", "eu", "host.name", "a", "version", "1");
    accept(aggregator, 0, "shop", "version", "1", "host.name", "b", "k8s.cluster.name", "eu");
    accept(aggregator, 0, "shop", "version", "1");
    accept(aggregator, 0, "shop", "k8s.cluster.name", "1");
    accept(aggregator, 0, "shop", "k8s.cluster.name", "eu", "version", "\"2\"");
    accept(aggregator, 0, "bank");

    assertThat(page(Format.TEXT)).contains(HEADER);
    assertThat(targets())
        .containsExactlyInAnyOrder(
            target("shop", "eu", "1"),
            target("shop", "", "1"),
            target("shop", "1", ""),
            target("shop", "eu", "\\\"2\\\""),
            target("bank", "", ""));
    assertThat(page(Format.TEXT)).contains("\ntrace_etl_targets 5.0\n");
  }

  @Test
  void keysAreLabelsOnPagesInUtf8() {
    accept(owner(QUEUE), 0, "shop", "k8s.cluster.name", "eu", "version", "1");

    assertThat(page(Format.OPENMETRICS_UTF8))
        .contains(
            "\n"
                + "traces_target_info{service_name=\"shop\",\"k8s.cluster.name\"=\"eu\",version=\"1\"}"
                + " 1.0\n")
        .endsWith("# EOF\n");
    assertThat(page(Format.OPENMETRICS))
        .contains(
            "# TYPE traces_target_info gauge\n",
            "\n"
                + "traces_target_info{service_name=\"shop\",k8s_cluster_name=\"eu\",version=\"1\"}"
                + " 1.0\n");
    assertThat(page(Format.PROTOBUF_UTF8)).contains("k8s.cluster.name").doesNotContain("\"k8s");
    assertThat(page(Format.PROTOBUF)).contains("k8s_cluster_name").doesNotContain("k8s.");
  }

  @Test
  void aTargetIsRemovedAfterItsIdleTimeAndComesBack() {
    QueueAggregator aggregator = owner(QUEUE);
    accept(aggregator, 0, "shop", "version", "1");
    accept(aggregator, 0, "shop", "version", "2");
    accept(aggregator, 50_000, "shop", "version", "2");
    seal(aggregator, 60_000);
    assertThat(targets()).hasSize(2);

    accept(aggregator, 60_001, "bank");
    seal(aggregator, 60_001);
    assertThat(targets())
        .containsExactlyInAnyOrder(target("shop", "", "2"), target("bank", "", ""));

    accept(aggregator, 70_000, "shop", "version", "1");
    assertThat(targets()).hasSize(3).contains(target("shop", "", "1"));
  }

  @Test
  void targetsOfAReleasedQueueAreRemovedUnlessAnotherQueueHasThem() {
    QueueAggregator aggregator = owner(QUEUE);
    QueueAggregator other = owner(OTHER);
    accept(aggregator, 0, "shop");
    accept(other, 0, "shop");
    accept(aggregator, 0, "bank");
    assertThat(targets()).hasSize(2);

    info.released(QUEUE);
    assertThat(targets()).containsExactly(target("shop", "", ""));
    accept(aggregator, 0, "bank");
    assertThat(targets()).as("no longer owned").hasSize(1);

    accept(owner(QUEUE), 0, "bank");
    assertThat(targets()).hasSize(2);
  }

  @Test
  void targetsAboveTheLimitAreCountedOnly() {
    QueueAggregator aggregator = owner(QUEUE);
    IntStream.range(0, MAX_TARGETS + 3)
        .forEach(i -> accept(aggregator, 0, "shop", "version", "v" + i));
    accept(aggregator, 0, "shop", "version", "v0");

    assertThat(targets()).hasSize(MAX_TARGETS).contains(target("shop", "", "v9999"));
    assertThat(page(Format.TEXT))
        .contains(
            "\ntrace_etl_target_batches_left_out_total 3.0\n", "\ntrace_etl_targets 10000.0\n");

    seal(aggregator, 60_001);
    accept(aggregator, 60_001, "shop", "version", "new");
    assertThat(targets()).containsExactly(target("shop", "", "new"));
  }

  @Test
  void valuesOfTargetsHaveALimit() {
    QueueAggregator aggregator = owner(QUEUE);
    String large = "x".repeat(1_000);
    IntStream.range(0, 9_000)
        .forEach(
            i -> accept(aggregator, 0, "shop", "k8s.cluster.name", large, "version", large + i));

    assertThat(targets()).hasSizeBetween(8_000, 8_400);
  }

  @Test
  void withoutAttributesThereAreNoTargets() {
    var without = new ServerTelemetry("1", IDLE);
    without.show(new TargetInfo(MetricsConfig.defaults(), IDLE));

    assertThat(new String(without.families(Format.TEXT), UTF_8))
        .doesNotContain("target_info{", "TYPE traces_target_info");
  }
}
