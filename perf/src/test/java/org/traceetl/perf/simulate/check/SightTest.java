package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class SightTest {
  private static final String CREATED = "%s{service_name=\"cart\",trace_etl_queue=\"b/1\"} %d%n";
  private static final String CALLS = "traces_span_metrics_calls_created";
  private static final String DURATIONS = "traces_span_metrics_duration_milliseconds_created";

  private final List<String> failures = new ArrayList<>();
  private final Sight sight =
      new Sight(Naming.OTEL, application -> application.equals("ruled"), failures::add);

  @Test
  void aQueueThatMovesKeepsItsCreatedTimes() {
    read("server-1", CREATED.formatted(CALLS, 7) + CREATED.formatted(DURATIONS, 7));
    read("server-2", CREATED.formatted(CALLS, 7) + CREATED.formatted(DURATIONS, 7));

    assertThat(failures).isEmpty();
  }

  @Test
  void aCreatedTimeThatChangesIsFound() {
    read("server-1", CREATED.formatted(CALLS, 7) + CREATED.formatted(DURATIONS, 7));
    read("server-2", CREATED.formatted(CALLS, 8) + CREATED.formatted(DURATIONS, 9));

    assertThat(failures).hasSize(2);
    assertThat(failures.get(0)).contains(CALLS, "changed, now on server-2: 8.0 after 7.0");
    assertThat(failures.get(1)).contains(DURATIONS, "changed, now on server-2: 9.0 after 7.0");
  }

  @Test
  void aSeriesThatRulesMayEndCanBeginAgain() {
    read("server-1", CREATED.formatted(CALLS, 7).replace("cart", "ruled"));
    read("server-1", CREATED.formatted(CALLS, 8).replace("cart", "ruled"));

    assertThat(failures).isEmpty();
  }

  @Test
  void booksThatDoNotBalanceAreFound() {
    String books =
        """
        trace_etl_spans_received_total{application="cart"} 7
        trace_etl_spans_recorded_total{application="cart"} 4
        trace_etl_spans_rejected_total{application="cart",reason="malformed"} %d
        """;
    read("server-1", books.formatted(3));
    read("server-2", books.formatted(2));

    assertThat(failures)
        .containsExactly(
            "spans of application cart on server-2: received minus recorded, overflowed, filtered,"
                + " duplicate and rejected is +1; must be 0");
  }

  @Test
  void createdTimesAndBooksOfHalfEdgesAreCheckedAsWell() {
    String created = "traces_service_graph_request_created{client=\"cart\"} %d%n";
    String books =
        """
        trace_etl_spans_received_total{application="cart"} 7
        trace_etl_spans_recorded_total{application="cart"} 7
        trace_etl_edges_spans_received_total{application="cart"} 5
        trace_etl_edges_spans_recorded_total{application="cart"} 2
        trace_etl_edges_spans_duplicate_total{application="cart"} 1
        """;
    read("server-1", created.formatted(7));
    read("server-2", created.formatted(8) + books);

    assertThat(failures).hasSize(2);
    assertThat(failures.get(0)).contains("request_created", "8.0 after 7.0");
    assertThat(failures.get(1)).contains("half-edges of application cart on server-2", "is +2");
  }

  private void read(String server, String page) {
    sight.read(server, PageSample.of(page));
  }
}
