package org.traceetl.server.expose;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Names;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.window.SeriesDefinition;

/** The labels of series that have more of them than the configured dimensions. */
class SpanNamingTest {
  private static final String[] HOSTILE = {
    "",
    "le",
    "otel_metric_overflow",
    "__name__",
    "é",
    "9lives",
    "service_name",
    "service.name",
    "span_kind",
    "otel_metric_overflow",
    "trace.etl.queue",
    "http.route",
    "http_route",
    "tenant",
    "tenant.id",
    "tenant-id",
    "tenant\"id",
    "a=\"b\\",
    "a\nb",
    "\uD800",
    "\0",
    null
  };

  private static SpanNaming naming(Names names) {
    return new SpanNaming(
        new MetricsConfig(null, null, null, null, names, null, null),
        SeriesConfig.defaults()
            .withDimensions(
                List.of(
                    new Dimension("http.route", null, null),
                    new Dimension("k8s.namespace.name", "namespace", null))),
        StandardProfile.OTEL.histogram());
  }

  private static byte[] labels(Names names, String... values) {
    return naming(names)
        .labels(new SeriesDefinition(0, 0, false, Arrays.asList(values)), "broker/1");
  }

  private static String text(Names names, String... values) {
    return new String(labels(names, values), UTF_8);
  }

  @Test
  void furtherLabelsFollowTheConfiguredOnes() {
    String[] values = {
      "shop", "GET", "2", "0", "/cart", null, "tenant.id", "gold", "zone", "é\n", "a", ""
    };
    String fixed =
        "service_name=\"shop\",span_name=\"GET\",span_kind=\"SPAN_KIND_SERVER\","
            + "status_code=\"STATUS_CODE_UNSET\",";

    assertThat(text(Names.UNDERSCORES, values))
        .isEqualTo(
            fixed
                + "http_route=\"/cart\",tenant_id=\"gold\",zone=\"é\\n\","
                + "trace_etl_queue=\"broker/1\"");
    assertThat(text(Names.UTF_8, values))
        .isEqualTo(
            fixed
                + "\"http.route\"=\"/cart\",\"tenant.id\"=\"gold\",zone=\"é\\n\","
                + "trace_etl_queue=\"broker/1\"");
  }

  @Test
  void aFurtherLabelMayBeThatOfADimensionWhichTheSeriesLacks() {
    assertThat(text(Names.UNDERSCORES, "shop", "GET", "2", "0", null, "eu", "http_route", "/a"))
        .contains("namespace=\"eu\",http_route=\"/a\"");
    assertThat(text(Names.UNDERSCORES, "shop", "GET", "2", "0", "/b", "eu", "http_route", "/a"))
        .contains("http_route=\"/b\",namespace=\"eu\",trace_etl_queue");
  }

  /** Rules may bring a dimension whose key needs UTF-8 at any time. */
  @Test
  void namesMayBeUtf8WithoutAConfiguredDimension() {
    SpanNaming naming =
        new SpanNaming(
            new MetricsConfig(null, null, null, null, Names.UTF_8, null, null),
            SeriesConfig.defaults(),
            StandardProfile.OTEL.histogram());

    assertThat(naming.hasUtf8Names()).isTrue();
    assertThat(naming(Names.UNDERSCORES).hasUtf8Names()).isFalse();
  }

  @Property(tries = 500)
  void labelsAreValidAndDistinctWhateverAJournalHas(
      @ForAll long seed, @ForAll Names names, @ForAll List<String> any) {
    Random random = new Random(seed);
    List<String> values = new ArrayList<>(Arrays.asList("shop", "GET", "2", "0"));
    for (int i = random.nextInt(40); i > 0; i--) {
      values.add(
          any.isEmpty() || random.nextInt(4) > 0
              ? HOSTILE[random.nextInt(HOSTILE.length)]
              : any.get(random.nextInt(any.size())));
    }

    byte[] labels = labels(names, values.toArray(String[]::new));

    List<String> escaped = names(LabelText.escaped(labels));
    assertThat(escaped)
        .allMatch(Dimension::isLabel)
        .doesNotContain("otel_metric_overflow")
        .doesNotHaveDuplicates()
        .startsWith("service_name", "span_name", "span_kind", "status_code")
        .endsWith("trace_etl_queue");
    assertThat(names(labels)).doesNotHaveDuplicates().hasSameSizeAs(escaped);
    if (names == Names.UNDERSCORES) {
      assertThat(LabelText.escaped(labels)).isEqualTo(labels);
    }
  }

  private static List<String> names(byte[] labels) {
    List<String> names = new ArrayList<>();
    for (int at = 0; at < labels.length; ) {
      int nameEnd = LabelText.nameEnd(labels, at);
      names.add(new String(labels, at, nameEnd - at, UTF_8));
      at = LabelText.valueEnd(labels, nameEnd + 2) + 2;
    }
    return names;
  }
}
