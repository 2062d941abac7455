package org.traceetl.server.expose;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.window.SeriesDefinition;

class EdgeNamingTest {
  @ParameterizedTest
  @EnumSource
  void windowsHaveTheBucketsOfPages(HistogramConfig.Kind kind) {
    var histogram = new HistogramConfig(null, kind, null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1).histogram(histogram).unit(Unit.SECONDS).build();
    var naming = new EdgeNaming(histogram, false, List.of());

    assertThat(naming.stride()).isEqualTo(aggregation.newImage().stride());
    assertThat(naming.buckets()).isEqualTo(naming.stride());
    assertThat(naming.families())
        .filteredOn(Family::isHistogram)
        .hasSize(4)
        .allMatch(family -> family.buckets() == naming.stride());
  }

  @ParameterizedTest
  @EnumSource
  void eachMeasureIsInOneFamily(EdgeMeasure measure) {
    var naming = new EdgeNaming(new HistogramConfig(null), false, List.of());

    assertThat(Long.bitCount(naming.families(definition(measure.kind())))).isOne();
  }

  @Test
  void dimensionsOfBothEndsAreLabels() {
    var naming =
        new EdgeNaming(
            new HistogramConfig(null), false, List.of("service.namespace", "http.route"));

    assertThat(labels(naming, definition(1, null, "market", "/", "bank", null)))
        .isEqualTo(
            "client=\"shop\",server=\"pay\",client_service_namespace=\"market\","
                + "client_http_route=\"/\",server_service_namespace=\"bank\","
                + "trace_etl_queue=\"b/0\"");
    assertThat(labels(naming, definition(8, null, null, null, "", "/pay")))
        .isEqualTo(
            "client=\"pay\",server=\"shop\",server_http_route=\"/pay\",trace_etl_queue=\"b/0\"");
    assertThat(labels(naming, definition(12, null, null, null, "", "/pay")))
        .isEqualTo(
            "client=\"pay\",server=\"shop\",server_http_route=\"/pay\",reason=\"moved\","
                + "trace_etl_queue=\"b/0\"");
    List<String> overflow = Arrays.asList("shop", null, "1", "0", null, null, null, null, null);
    assertThat(labels(naming, new SeriesDefinition(0, 0, true, overflow)))
        .isEqualTo("client=\"shop\",otel_metric_overflow=\"true\",trace_etl_queue=\"b/0\"");
  }

  private static String labels(EdgeNaming naming, SeriesDefinition definition) {
    return new String(naming.labels(definition, "b/0"), UTF_8);
  }

  private static SeriesDefinition definition(int kind) {
    return definition(kind, (String) null);
  }

  /**
   * @param values connection type, then the values of client and server
   */
  private static SeriesDefinition definition(int kind, String... values) {
    List<String> all = new ArrayList<>(List.of("shop", "pay", Integer.toString(kind), "0"));
    all.addAll(Arrays.asList(values));
    return new SeriesDefinition(0, 0, false, all);
  }
}
