package org.traceetl.perf.bench.edges;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class GraphTest {
  private static final Edge EDGE = new Edge("cart", "stock", Edge.CALL);

  /** Of two queues: 5 and 15 ms at the client, one request failed. */
  private static final String OURS =
      """
      traces_service_graph_request_total{client="cart",server="stock",trace_etl_queue="a-0"} 1.0
      traces_service_graph_request_total{client="cart",server="stock",trace_etl_queue="a-1"} 1.0
      traces_service_graph_request_failed_total{client="cart",server="stock",trace_etl_queue="a-1"} 1.0
      traces_service_graph_request_client_seconds_bucket{client="cart",server="stock",trace_etl_queue="a-0",le="0.002"} 0
      """
          + buckets("trace_etl_queue=\"a-0\"", "0.006 0.008 0.01")
          + buckets("trace_etl_queue=\"a-1\"", "")
          + """
          traces_service_graph_request_client_seconds_sum{client="cart",server="stock",trace_etl_queue="a-0"} 0.005
          traces_service_graph_request_client_seconds_sum{client="cart",server="stock",trace_etl_queue="a-1"} 0.015
          traces_service_graph_request_client_seconds_count{client="cart",server="stock",trace_etl_queue="a-1"} 1
          traces_service_graph_request_latency_seconds_sum{client="cart",server="stock",trace_etl_queue="a-1"} 1
          traces_service_graph_unpaired_spans_total{client="cart",trace_etl_queue="a-1"} 7
          """;

  private static String buckets(String label, String more) {
    StringBuilder lines = new StringBuilder();
    for (String bound : (more + " 0.05 0.1 0.2 0.4 0.8 1 1.4 2 5 10 15 +Inf").strip().split(" ")) {
      lines.append(
          "traces_service_graph_request_client_seconds_bucket{client=\"cart\",server=\"stock\",%s,le=\"%s\"} 1%n"
              .formatted(label, bound));
    }
    return lines.toString();
  }

  @Test
  void seriesOfAnEdgeAreSummedOverOtherLabels() {
    Graph expected = new Graph();
    expected.add(EDGE, new Request(false, Request.UNKNOWN, 5_000_000));
    expected.add(EDGE, new Request(true, Request.UNKNOWN, 15_000_000));

    Graph found = Graph.of(PageSample.of(OURS));

    assertThat(found.edges()).containsExactly(EDGE);
    assertThat(found.of(EDGE).requests()).isEqualTo(2);
    assertThat(found.of(EDGE).failed()).isEqualTo(1);
    assertThat(found.equal(expected)).isTrue();
  }

  @Test
  void durationInAnotherBucketOrAnotherSumIsADifference() {
    Graph expected = new Graph();
    expected.add(EDGE, new Request(false, Request.UNKNOWN, 5_000_000));
    expected.add(EDGE, new Request(true, Request.UNKNOWN, 5_000_000));
    assertThat(Graph.of(PageSample.of(OURS)).equal(expected)).isFalse();

    Graph sum = new Graph();
    sum.add(EDGE, new Request(false, Request.UNKNOWN, 5_000_000));
    sum.add(EDGE, new Request(true, Request.UNKNOWN, 15_001_000));
    assertThat(Graph.of(PageSample.of(OURS)).equal(sum)).isFalse();
  }
}
