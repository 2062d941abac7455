package org.traceetl.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.server.expose.Encoding;

class NegotiationTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "- | TEXT",
        "'' | TEXT",
        "*/* | TEXT",
        "text/plain | TEXT",
        "text/html,application/xhtml+xml,*/*;q=0.8 | TEXT",
        "application/json | TEXT",
        "application/openmetrics-text | OPENMETRICS",
        "Application/OpenMetrics-Text; Version=1.0.0 | OPENMETRICS",
        "application/openmetrics-text; version=2.0.0 | OPENMETRICS_2",
        "application/openmetrics-text; version=3.0.0 | TEXT",
        // Prometheus 3 with scrape_protocols: [OpenMetricsText2.0.0, OpenMetricsText1.0.0]
        "application/openmetrics-text;version=2.0.0;escaping=underscores;q=0.7,application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.6,*/*;q=0.5"
            + " | OPENMETRICS_2",
        "application/openmetrics-text;q=0 | TEXT",
        "application/openmetrics-text;q=nonsense | TEXT",
        "application/openmetrics-text;q=0.3,text/plain;q=0.5 | TEXT",
        "application/openmetrics-text;q=0.5,text/plain;q=0.5 | OPENMETRICS",
        // Prometheus 2.42
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
            + " | OPENMETRICS",
        // Prometheus 3
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
            + " | OPENMETRICS",
        // Prometheus 2.42 with native histograms
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
            + " | PROTOBUF",
        // Prometheus 3 with native histograms
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
            + " | PROTOBUF",
        "application/vnd.google.protobuf;proto=\"io.prometheus.client.MetricFamily\";"
            + " encoding=\"delimited\" | PROTOBUF",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5,text/plain"
            + " | TEXT",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text |"
            + " TEXT",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0"
            + " | TEXT",
        "application/vnd.google.protobuf;proto=another.Message;encoding=delimited,application/openmetrics-text;q=0.1"
            + " | OPENMETRICS",
        "application/vnd.google.protobuf | TEXT",
      })
  void formatFollowsTheAcceptHeader(String accept, Encoding expected) {
    assertThat(Negotiation.encoding(accept, null)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "- | TEXT",
        "*/* | TEXT",
        "text/plain;version=1.0.0 | TEXT",
        "text/plain;version=1.0.0;escaping=underscores | TEXT",
        "text/plain;version=1.0.0;escaping=allow-utf-8 | TEXT_UTF8",
        "text/plain;version=1.0.0;escaping=allow-utf-8;q=0,text/plain;q=0.1 | TEXT",
        "text/plain; Version=1.0.0; Escaping=\"Allow-UTF-8\" | TEXT_UTF8",
        "application/openmetrics-text;version=1.0.0;escaping=dots | OPENMETRICS",
        "application/openmetrics-text;version=2.0.0;escaping=allow-utf-8;q=0.7,*/*;q=0.6 |"
            + " OPENMETRICS_2_UTF8",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.1,text/plain;version=0.0.4"
            + " | TEXT",
        // Prometheus 2.42
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
            + " | OPENMETRICS",
        // Prometheus 3
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
            + " | OPENMETRICS_UTF8",
        // Prometheus 3 with metric_name_escaping_scheme: underscores
        "application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=underscores;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
            + " | OPENMETRICS",
        // Prometheus 3 with native histograms
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
            + " | PROTOBUF_UTF8",
        // Prometheus 2.42 with native histograms
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
            + " | PROTOBUF",
      })
  void utf8NamesAreForScrapersThatAskForThem(String accept, Encoding expected) {
    assertThat(Negotiation.encoding(accept, null, true)).isEqualTo(expected);
    Encoding withoutUtf8Names = Negotiation.encoding(accept, null, false);
    assertThat(withoutUtf8Names.format().hasUtf8Names()).isFalse();
    assertThat(withoutUtf8Names.format().withUtf8Names())
        .isEqualTo(expected.format().withUtf8Names());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "- | false",
        "gzip | true",
        "GZIP | true",
        "x-gzip | true",
        "deflate, gzip;q=0.5, br | true",
        "gzip;q=0 | false",
        "identity | false",
        "* | true",
        "gzip;q=0, * | false",
        "*;q=0 | false",
      })
  void compressionFollowsTheAcceptEncodingHeader(String acceptEncoding, boolean expected) {
    assertThat(Negotiation.encoding(null, acceptEncoding).gzip()).isEqualTo(expected);
  }
}
