package org.traceetl.perf.simulate.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.testkit.PageSample;

final class EdgeTruthTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int WAIT = 30;
  private static final HalfEdge CALLER = half("shop", HalfEdge.CLIENT, 1, 20_000_000);
  private static final HalfEdge CALLEE = half("stock", HalfEdge.SERVER, 1, 5_000_000);
  private static final HalfEdge ORPHAN = half("mail", HalfEdge.SERVER, 2, 5_000_000);

  private static final String REQUEST =
      """
      traces_service_graph_request_total{client="shop",server="stock",trace_etl_queue="a/0"} 1
      traces_service_graph_request_server_seconds_bucket{client="shop",server="stock",le="0.01"} 1
      traces_service_graph_request_server_seconds_bucket{client="shop",server="stock",le="+Inf"} 1
      traces_service_graph_request_server_seconds_count{client="shop",server="stock"} 1
      traces_service_graph_request_server_seconds_sum{client="shop",server="stock"} 0.005
      traces_service_graph_request_client_seconds_bucket{client="shop",server="stock",le="0.01"} 0
      traces_service_graph_request_client_seconds_bucket{client="shop",server="stock",le="+Inf"} 1
      traces_service_graph_request_client_seconds_count{client="shop",server="stock"} 1
      traces_service_graph_request_client_seconds_sum{client="shop",server="stock"} 0.02
      traces_service_graph_request_latency_seconds_bucket{client="shop",server="stock",le="0.01"} 0
      traces_service_graph_request_latency_seconds_bucket{client="shop",server="stock",le="+Inf"} 1
      traces_service_graph_request_latency_seconds_count{client="shop",server="stock"} 1
      traces_service_graph_request_latency_seconds_sum{client="shop",server="stock"} 0.015
      """;

  private static final String BOTH_UNPAIRED =
      """
      traces_service_graph_unpaired_spans_total{client="shop"} 1
      traces_service_graph_unpaired_spans_total{server="stock"} 1
      """;

  private static final String MAIL_UNPAIRED =
      "traces_service_graph_unpaired_spans_total{server=\"mail\"} 1\n";

  private final EdgeBatchWriter writer = new EdgeBatchWriter();
  private long nowNanos;
  private long sequence;

  private final EdgeTruth truth = new EdgeTruth(List.of(10.0), WAIT * SECOND, () -> nowNanos);

  private static HalfEdge half(String application, int side, long key, long nanos) {
    return new HalfEdge(application, side, HalfEdge.CALL, "", false, true, key, 7, nanos, 0, "");
  }

  @Test
  void bothHalvesAreOneRequest() {
    send("a/0", CALLER);
    send("a/0", CALLEE);

    assertThat(differences(REQUEST)).isEmpty();
    assertThat(differences("")).isNotEmpty();
    assertThat(differences(BOTH_UNPAIRED)).isNotEmpty();
  }

  @Test
  void aRequestThatIsCountedInTwoQueuesIsFound() {
    send("a/0", CALLER);
    send("a/0", CALLEE);

    assertThat(differences(REQUEST + REQUEST))
        .anyMatch(line -> line.equals("REQUESTS of shop to stock: 2 instead of 1 (+1);"));
  }

  @Test
  void aWrongDurationIsFound() {
    send("a/0", CALLER);
    send("a/0", CALLEE);

    assertThat(differences(REQUEST.replace(" 0.015", " 0.014")))
        .singleElement()
        .asString()
        .contains("LATENCY of shop to stock", "sum is 0.014");
  }

  @Test
  void aBatchThatIsStoredTwiceCountsOnce() {
    send("a/0", CALLER);
    sequence--;
    store("a/0", CALLER);
    send("a/0", CALLEE);

    assertThat(differences(REQUEST)).isEmpty();
  }

  @Test
  void aHalfEdgeThatNoBrokerHasIsFound() {
    truth.sent(CALLER, true);

    assertThat(differences("")).singleElement().asString().contains("0 half-edges", "instead of 1");
  }

  @Test
  void halvesInTwoQueuesAreNoRequest() {
    send("a/0", CALLER);
    send("a/1", CALLEE);

    assertThat(differences(BOTH_UNPAIRED)).isEmpty();
    assertThat(differences(REQUEST)).isNotEmpty();
  }

  @Test
  void halvesOfAgentsWithOneListAreInOneQueue() {
    settle("");
    send("a/0", CALLER);
    send("a/1", CALLEE);
    assertThat(differences(BOTH_UNPAIRED))
        .singleElement()
        .asString()
        .contains("queue a/1 has one end of a call whose other end is in another queue");

    truth.listChanged();

    assertThat(differences(BOTH_UNPAIRED)).isEmpty();
  }

  @Test
  void halvesMayCountAsMovedForSomeTimeAfterAChangeOfTheList() {
    String moved =
        "traces_service_graph_unpaired_spans_total{server=\"mail\",reason=\"moved\"} 1\n";
    send("a/0", ORPHAN);
    assertThat(differences(moved)).isNotEmpty();

    truth.listChanged();
    settle("");
    rest("a/0");
    assertThat(differences(moved)).isEmpty();
    assertThat(differences(MAIL_UNPAIRED)).isEmpty();
    assertThat(differences("")).isNotEmpty();
    assertThat(differences(moved + MAIL_UNPAIRED)).isNotEmpty();
    settle(moved);

    nowNanos += 240 * SECOND;
    send("a/0", half("mail", HalfEdge.SERVER, 3, 1));
    assertThat(differences(moved.replace(" 1", " 2"))).isNotEmpty();
  }

  @Test
  void halvesFarApartAreARequestOrBothUnpaired() {
    send("a/0", CALLER);
    nowNanos += WAIT * SECOND;
    send("a/0", CALLEE);
    assertThat(differences(REQUEST)).isEmpty();
    assertThat(differences(BOTH_UNPAIRED)).isEmpty();
    assertThat(differences(REQUEST + BOTH_UNPAIRED)).isNotEmpty();

    settle(BOTH_UNPAIRED);
    rest("a/0");

    assertThat(differences(BOTH_UNPAIRED)).isEmpty();
    assertThat(differences("")).isNotEmpty();
  }

  @Test
  void aStepOfABrokersClockLetsHalvesExpireEarlier() {
    send("a/0", CALLER);
    nowNanos += (WAIT - 10) * SECOND;
    truth.clockStepped();
    send("a/0", CALLEE);

    assertThat(differences(REQUEST)).isEmpty();
    assertThat(differences(BOTH_UNPAIRED)).isEmpty();
  }

  @Test
  void anOrphanIsUnpairedAfterARest() {
    send("a/0", ORPHAN);
    assertThat(differences("")).isEmpty();
    settle("");
    truth.disturbed();
    rest("a/0");
    assertThat(differences("")).isEmpty();
    settle("");

    rest("a/0");

    assertThat(differences("")).isNotEmpty();
    assertThat(differences(MAIL_UNPAIRED)).isEmpty();
    settle(MAIL_UNPAIRED);
    assertThat(differences(MAIL_UNPAIRED)).isEmpty();
    assertThat(differences("")).isNotEmpty();
  }

  @Test
  void aRequestWithoutAParentNeedsNoOtherHalf() {
    send(
        "a/0",
        new HalfEdge(
            "shop", HalfEdge.SERVER, HalfEdge.CALL, "", true, false, 0, 0, 5_000_000, 0, ""));
    String ends = "{client=\"user\",server=\"shop\",connection_type=\"virtual_node\"%s} %s%n";

    assertThat(
            differences(
                "traces_service_graph_request_total"
                    + ends.formatted("", 1)
                    + "traces_service_graph_request_failed_total"
                    + ends.formatted("", 1)
                    + "traces_service_graph_request_server_seconds_bucket"
                    + ends.formatted(",le=\"0.01\"", 1)
                    + "traces_service_graph_request_server_seconds_bucket"
                    + ends.formatted(",le=\"+Inf\"", 1)
                    + "traces_service_graph_request_server_seconds_count"
                    + ends.formatted("", 1)
                    + "traces_service_graph_request_server_seconds_sum"
                    + ends.formatted("", 0.005)))
        .isEmpty();
  }

  /** Lets a minute pass without faults, with a heartbeat each ten seconds. */
  private void rest(String queue) {
    byte[] heartbeat = {0, 'T', 'E', 'A', 1};
    for (int i = 0; i < 7; i++) {
      truth.stored(queue, heartbeat);
      nowNanos += 10 * SECOND;
    }
  }

  private void send(String queue, HalfEdge half) {
    truth.sent(half, true);
    store(queue, half);
  }

  private void store(String queue, HalfEdge half) {
    writer.begin();
    byte[] name = half.application().getBytes(UTF_8);
    writer.head(
        writer.intern(name, 0, name.length),
        -1,
        half.side(),
        half.failed(),
        half.connectionType(),
        -1,
        0,
        new int[0],
        0);
    if (half.waits()) {
      writer.waiting(half.key(), half.check(), half.durationNanos(), half.messageMicros());
    } else {
      writer.immediate(half.durationNanos());
    }
    int length = writer.finish(1, 2, 1, sequence++);
    truth.stored(queue, Arrays.copyOf(writer.buffer(), length));
    nowNanos += SECOND;
  }

  private void settle(String page) {
    truth.settle(List.of(PageSample.of(page)), true);
  }

  private List<String> differences(String page) {
    List<String> differences = new ArrayList<>();
    truth.compare(List.of(PageSample.of(page)), differences::add);
    return differences;
  }
}
