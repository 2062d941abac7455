package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Names;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.QueueId;

class PushNamingTest {
  private static final SeriesConfig SERIES =
      SeriesConfig.defaults()
          .withDimensions(
              List.of(
                  new Dimension("http.route", null, null),
                  new Dimension("a=\"b\\", "named", null),
                  new Dimension("c=\"d\\", null, null)));

  private static List<String> labels(Names names, boolean otlp) {
    var naming =
        new SpanNaming(
            new MetricsConfig(null, null, null, QueueLabel.ALWAYS, names, null, null),
            SERIES,
            StandardProfile.OTEL.histogram());
    PushNaming push =
        otlp ? new PushNaming(naming, Map.of(), Map.of()) : new PushNaming(naming, Map.of());
    PushedSeries series =
        push.series(
            new QueueId("broker", 1),
            PushFixture.definition(
                0, "shop", "GET", "2", "0", "/\"x\\", "1", "2", "Zone", "eu", "a.b", "3"),
            1);
    return Arrays.stream(series.names).map(Symbol::toString).toList();
  }

  @Test
  void keysOfAttributesAreNamesInOtlpOnly() {
    assertThat(labels(Names.UTF_8, true))
        .contains("http.route", "named", "c=\"d\\", "service_name", "trace_etl_queue")
        .contains("Zone", "a.b")
        .hasSize(10);
    assertThat(labels(Names.UTF_8, false)).isEqualTo(labels(Names.UNDERSCORES, false));
    assertThat(labels(Names.UNDERSCORES, true))
        .isEqualTo(labels(Names.UNDERSCORES, false))
        .contains("http_route", "named", "c__d_", "Zone", "a_b")
        .isSorted();
  }
}
