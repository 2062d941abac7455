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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Names;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.decode.SpanMeasures;
import org.traceetl.server.window.Form;
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

  @Test
  void aFormIsShownAsItsHashAndByItsFamily() {
    SpanNaming naming = naming(Names.UNDERSCORES);
    Form form = new Form(new long[] {2_500_000, 1_000_000_000}, 3, 1_000_000_000);
    String text = "unit=s;bounds=2.5,1000;native=3";
    assertThat(form.text()).isEqualTo(text);
    SeriesDefinition definition = definition(text);

    int number = number(naming, definition);
    Family durations = naming.families().get(number);
    assertThat(durations.name()).isEqualTo("traces_span_metrics_duration_seconds");
    assertThat(durations.buckets()).isEqualTo(3);
    assertThat(durations.boundText(0)).isEqualTo("0.0025");
    assertThat(durations.seconds()).isTrue();
    assertThat(durations.nativeBuckets().schema()).isEqualTo(3);
    assertThat(naming.families()).hasSize(3);
    assertThat(new String(naming.labels(definition, null), UTF_8))
        .endsWith(",tier=\"gold\",trace_etl_form=\"" + Form.label(text) + "\"");
    assertThat(number(naming, definition(text))).as("each form has one family").isEqualTo(2);
    assertThat(number(naming, definition("unit=ms;bounds=1"))).isEqualTo(3);
    assertThat(naming.families().get(3).name())
        .isEqualTo("traces_span_metrics_duration_milliseconds");
  }

  @Test
  void changesOfFormsLeaveRoomForObjectivesAndVariances() {
    SpanNaming naming = naming(Names.UNDERSCORES);
    for (int i = 1; i <= Family.MOST; i++) {
      naming.families(definition("unit=ms;bounds=" + i));
    }
    int before = naming.families().size();
    ObjectiveConfig objective = new ObjectiveConfig("fast", 99.0, null, null, null, null);
    for (MeasureConfig each : List.of(objective.events(), objective.good())) {
      SeriesDefinition definition =
          new SeriesDefinition(
              0,
              0,
              false,
              Arrays.asList(
                  "shop",
                  each.name(),
                  String.valueOf(SeriesDefinition.OF_MEASURES),
                  "0",
                  null,
                  null,
                  Form.KEY,
                  SpanMeasures.form(each).text(),
                  ObjectiveConfig.LABEL,
                  objective.name()));
      assertThat(naming.families(definition)).as(each.name()).isNotZero();
    }
    SeriesDefinition variance =
        new SeriesDefinition(0, 0, false, Arrays.asList("shop", "GET /", "18", "0", null, null));
    assertThat(naming.families(variance)).as("of variances").isNotZero();
    assertThat(naming.families()).hasSize(before + 3).hasSize(Family.MOST);
    assertThat(naming.families(definition("unit=ms;bounds=1"))).as("of a form").isNotZero();
  }

  private static SeriesDefinition definition(String form) {
    return new SeriesDefinition(
        0,
        0,
        false,
        Arrays.asList("shop", "GET", "2", "0", null, null, Form.KEY, form, "tier", "gold"));
  }

  /** Returns the number of the durations' family; every series is in that of the calls. */
  private static int number(SpanNaming naming, SeriesDefinition definition) {
    long bits = naming.families(definition);
    assertThat(bits & 1).isOne();
    return Long.numberOfTrailingZeros(bits & ~1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "unit=s",
        "unit=h;bounds=1",
        "unit=s;bounds=",
        "unit=s;bounds=0",
        "unit=s;bounds=2,1",
        "unit=s;bounds=1,1",
        "unit=s;bounds=1.0",
        "unit=s;bounds=01",
        "unit=s;bounds=1;native=9",
        "unit=s;bounds=1;native=-0",
        "unit=s;bounds=1;native=3;",
        "unit=s;native=3;bounds=1",
        "unit=s;bounds=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"
      })
  void anInvalidFormHasNoDurations(String text) {
    SpanNaming naming = naming(Names.UNDERSCORES);
    assertThat(naming.families(definition(text))).isOne();
    assertThat(naming.families()).hasSize(2);
  }

  @Test
  void formsBeyondTheRoomForFamiliesHaveNoDurations() {
    SpanNaming naming = naming(Names.UNDERSCORES);
    for (int bound = 1; bound < 100; bound++) {
      naming.families(definition("unit=s;bounds=" + bound));
    }
    assertThat(naming.families())
        .as("three are those of objectives and variances")
        .hasSize(Long.SIZE - 3);
    assertThat(naming.families(definition("unit=s;bounds=99"))).isOne();
    assertThat(number(naming, definition("unit=s;bounds=59"))).isEqualTo(60);
  }

  @Property
  void formsAreReadAsWritten(@ForAll Random random) {
    long[] bounds =
        random.longs(random.nextInt(20), 1, 31_536_000_000_000_000L).sorted().distinct().toArray();
    Integer schema = bounds.length == 0 || random.nextBoolean() ? random.nextInt(13) - 4 : null;
    Form form = new Form(bounds, schema, random.nextBoolean() ? 1_000_000 : 1_000_000_000);

    assertThat(Form.parse(form.text()).boundsNanos()).isEqualTo(bounds);
    assertThat(Form.parse(form.text())).isEqualTo(form);
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
