package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.features.push.WriteMessages.Series;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/** Measures in requests: with OpenTelemetry's names in OTLP, with those of pages otherwise. */
class PushedMeasuresTest {
  private static final NativeTotals NONE = new NativeTotals();
  private static final SeriesDefinition REQUESTS =
      measure(
          0,
          "http.server.request.duration",
          new MeasureForm(
              true, "s", "Duration", new Form(new long[] {10_000_000}, null, 1_000_000_000)));
  private static final SeriesDefinition BYTES =
      measure(
          1,
          "response.size",
          new MeasureForm(false, "By", "Size", new Form(new long[0], null, 1_000_000)));

  private static SeriesDefinition measure(int series, String name, MeasureForm form) {
    return PushFixture.definition(
        series, "shop", name, "14", "0", Form.KEY, form.text(), "http.route", "/a");
  }

  private static WriteRequest request(PushNaming naming) {
    WriteRequest request = new WriteRequest(naming, null);
    for (SeriesDefinition definition : List.of(REQUESTS, BYTES)) {
      request.add(
          naming.series(PushFixture.QUEUE, definition, 1),
          60_000,
          75_000,
          new long[] {3, 2, 0},
          0,
          1_500,
          250_000,
          NONE,
          Samples.NO_ROW,
          null);
    }
    return request;
  }

  @Test
  void otlpHasTheNamesAndUnitsOfTheConfiguration() {
    PushNaming naming = PushFixture.otlp(Kind.CLASSIC);
    WriteRequest request = request(naming);
    OtlpEncoder encoder = new OtlpEncoder(naming, false);
    assertThat(encoder.encode(request, 0, request.size(), Protocol.OTLP)).isTrue();

    List<Series> all = OtlpMessages.read(encoder.message());

    assertThat(all)
        .extracting(Series::name, series -> series.values().getFirst())
        .containsExactlyInAnyOrder(
            tuple(
                "http.server.request.duration",
                "count=5 sum=1.50025 buckets=[3, 2] bounds=[0.01]@75000>60000"),
            tuple("response.size", "1500.25@75000>60000"));
    assertThat(all)
        .extracting(Series::labels)
        .allSatisfy(labels -> assertThat(labels).contains("http_route=/a"));
    assertThat(naming.families().get(2).unitInOtlp).isEqualTo("s");
    assertThat(naming.families().get(3).unitInOtlp).isEqualTo("By");
  }

  @ParameterizedTest
  @EnumSource(
      value = Protocol.class,
      names = {"V1", "V2"})
  void remoteWriteHasTheNamesOfThePage(Protocol protocol) {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC, Map.of());
    WriteRequest request = request(naming);
    RemoteWriteEncoder encoder = new RemoteWriteEncoder(naming);
    assertThat(encoder.encode(request, 0, request.size(), protocol)).isTrue();

    assertThat(
            WriteMessages.read(
                protocol == Protocol.V2,
                WriteMessages.decompress(encoder.body(), encoder.length())))
        .extracting(Series::name, PushedMeasuresTest::value)
        .containsExactlyInAnyOrder(
            tuple("http_server_request_duration_seconds_count", "5.0"),
            tuple("http_server_request_duration_seconds_sum", "1.50025"),
            tuple("http_server_request_duration_seconds_bucket", "3.0"),
            tuple("http_server_request_duration_seconds_bucket", "5.0"),
            tuple("response_size_bytes_total", "1500.25"));
  }

  private static String value(Series series) {
    return series.values().getFirst().replaceFirst("@.*", "");
  }
}
