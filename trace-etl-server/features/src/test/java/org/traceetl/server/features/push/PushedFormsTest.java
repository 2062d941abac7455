package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/** Series of several forms in one request, the first of them after the encoder was made. */
class PushedFormsTest {
  private static final long SECOND = 1_000_000_000;
  private static final String SECONDS = "traces_span_metrics_duration_seconds";
  private static final String MILLIS = "traces_span_metrics_duration_milliseconds";

  private static SeriesDefinition shop(int number, Form form) {
    return form == null
        ? PushFixture.definition(number, "shop", "GET", "2", "0")
        : PushFixture.definition(number, "shop", "GET", "2", "0", Form.KEY, form.text());
  }

  private static WriteRequest request(PushNaming naming) {
    Form otherBounds = new Form(new long[] {SECOND / 4}, null, SECOND);
    Form otherUnit = new Form(new long[] {SECOND / 2, SECOND}, null, 1_000_000);
    Form natives = new Form(new long[0], 0, SECOND);
    WriteRequest request = new WriteRequest(naming, null);
    NativeTotals totals = new NativeTotals();
    totals.set(0, new char[] {(char) natives.nativeBuckets().of(SECOND)}, new long[] {9});
    add(request, naming, shop(0, null), totals, Samples.NO_ROW, 1, 2, 3);
    add(request, naming, shop(1, otherBounds), totals, Samples.NO_ROW, 4, 5, 0);
    add(request, naming, shop(2, otherUnit), totals, Samples.NO_ROW, 6, 7, 8);
    add(request, naming, shop(3, natives), totals, 0, 9, 0, 0);
    return request;
  }

  private static void add(
      WriteRequest request,
      PushNaming naming,
      SeriesDefinition definition,
      NativeTotals totals,
      int row,
      long... counts) {
    request.add(
        naming.series(PushFixture.QUEUE, definition, 1),
        1,
        30_000,
        counts,
        0,
        1_500,
        0,
        totals,
        row,
        null);
  }

  @Test
  void remoteWriteHasTheBucketsOfEachSeries() throws Exception {
    for (Protocol protocol : List.of(Protocol.V1, Protocol.V2)) {
      PushNaming naming = PushFixture.naming(Kind.CLASSIC);
      RemoteWriteEncoder encoder = new RemoteWriteEncoder(naming);
      WriteRequest request = request(naming);
      assertThat(encoder.encode(request, 0, request.size(), protocol)).isTrue();

      List<String> samples = new ArrayList<>();
      for (WriteMessages.Series one :
          WriteMessages.read(protocol == Protocol.V2, encoder.message())) {
        String le = one.label("le");
        samples.add(
            one.name()
                + (le == null ? "" : "/" + le)
                + (one.values().isEmpty()
                    ? ""
                    : "=" + one.values().getFirst().replaceFirst(">.*", "")));
        assertThat(one.labels().toString()).doesNotContain("bounds=");
      }
      assertThat(samples)
          .contains(SECONDS + "_bucket/0.01=1.0@30000", SECONDS + "_bucket/+Inf=6.0@30000")
          .contains(SECONDS + "_bucket/0.25=4.0@30000", SECONDS + "_bucket/+Inf=9.0@30000")
          .contains(MILLIS + "_bucket/500.0=6.0@30000", MILLIS + "_bucket/1000.0=13.0@30000")
          .contains(MILLIS + "_sum=1500.0@30000", SECONDS + "_sum=1.5@30000")
          .filteredOn(sample -> sample.startsWith("traces_span_metrics_calls_total"))
          .hasSize(4);
      assertThat(samples)
          .anyMatch(sample -> sample.equals(SECONDS) || sample.startsWith(SECONDS + "="));
    }
  }

  @Test
  void otlpHasTheBucketsOfEachSeries() throws Exception {
    PushNaming naming = PushFixture.otlp(Kind.CLASSIC);
    OtlpEncoder encoder = new OtlpEncoder(naming, false);
    WriteRequest request = request(naming);
    assertThat(encoder.encode(request, 0, request.size(), Protocol.OTLP_GRPC)).isTrue();

    assertThat(OtlpMessages.read(encoder.message()).toString())
        .contains("count=6 sum=1.5 buckets=[1, 2, 3] bounds=[0.01, 0.1]")
        .contains("count=9 sum=1.5 buckets=[4, 5] bounds=[0.25]")
        .contains("count=21 sum=1500.0 buckets=[6, 7, 8] bounds=[500.0, 1000.0]")
        .contains("count=9 sum=1.5 scale=0")
        .doesNotContain("unit=");
  }
}
