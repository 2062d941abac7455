package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.window.NativeTotals;

/** Variances of sampled series are counters in requests, too. */
class PushedVariancesTest {
  private static final String VARIANCE = "traces_span_metrics_calls_variance";

  private static WriteRequest request(PushNaming naming) {
    WriteRequest request = new WriteRequest(naming, null);
    List<String> kinds = List.of("2", "18");
    for (int number = 0; number < 2; number++) {
      request.add(
          naming.series(
              PushFixture.QUEUE,
              PushFixture.definition(number, "shop", "GET", kinds.get(number), "0"),
              1),
          1,
          30_000,
          new long[] {10 + number, 0, 0},
          0,
          0,
          0,
          new NativeTotals(),
          Samples.NO_ROW,
          null);
    }
    return request;
  }

  @Test
  void remoteWriteHasTheVariance() throws Exception {
    for (Protocol protocol : List.of(Protocol.V1, Protocol.V2)) {
      PushNaming naming = PushFixture.naming(Kind.CLASSIC);
      RemoteWriteEncoder encoder = new RemoteWriteEncoder(naming);
      WriteRequest request = request(naming);
      assertThat(encoder.encode(request, 0, request.size(), protocol)).isTrue();

      assertThat(WriteMessages.read(protocol == Protocol.V2, encoder.message()))
          .filteredOn(one -> one.name().equals(VARIANCE + "_total"))
          .filteredOn(one -> !one.values().isEmpty())
          .singleElement()
          .satisfies(one -> {
            assertThat(one.label("span_kind")).isEqualTo("SPAN_KIND_SERVER");
            assertThat(one.values().getFirst()).startsWith("11.0@30000");
          });
    }
  }

  @Test
  void otlpHasTheVariance() throws Exception {
    PushNaming naming = PushFixture.otlp(Kind.CLASSIC);
    OtlpEncoder encoder = new OtlpEncoder(naming, false);
    WriteRequest request = request(naming);
    assertThat(encoder.encode(request, 0, request.size(), Protocol.OTLP_GRPC)).isTrue();

    assertThat(OtlpMessages.read(encoder.message()).toString()).contains(VARIANCE, "11.0");
  }
}
