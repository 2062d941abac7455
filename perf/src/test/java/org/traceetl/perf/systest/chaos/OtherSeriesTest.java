package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class OtherSeriesTest {
  private final OtherSeries others = new OtherSeries("cart");

  private void read(String server, String service, int calls, int created) {
    others.read(
        server,
        PageSample.of(
            """
            traces_span_metrics_calls_total{service_name="%1$s",trace_etl_queue="b/0"} %2$d
            traces_span_metrics_calls_created{service_name="%1$s",trace_etl_queue="b/0"} %3$d
            """
                .formatted(service, calls, created)));
  }

  @Test
  void aSeriesContinuesOnAnotherServer() {
    read("server-1", "mail", 3, 1000);
    read("server-1", "cart", 3, 1000);
    others.begin();
    read("server-2", "mail", 5, 1000);
    read("server-2", "cart", 1, 2000);

    assertThat(others.restarted()).isEmpty();
    assertThat(others.compared())
        .contains("1 of 1 created", "3 before and 5 after", "{server-2=1}");
    assertThat(others.line()).isEqualTo("other_series=1 other_series_restarted=0");
  }

  @Test
  void aSeriesWithAnotherCreatedTimestampHasRestarted() {
    read("server-1", "mail", 3, 1000);
    others.begin();
    read("server-1", "mail", 5, 2000);

    assertThat(others.restarted()).singleElement().asString().contains("_created", "mail");
    assertThat(others.compared()).contains("0 of 1 created");
  }

  @Test
  void aSeriesWithALowerValueHasRestarted() {
    read("server-1", "mail", 3, 1000);
    read("server-2", "mail", 2, 1000);

    assertThat(others.line()).isEqualTo("other_series=1 other_series_restarted=1");
  }
}
