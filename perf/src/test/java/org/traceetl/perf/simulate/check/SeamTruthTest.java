package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SeamTruthTest {
  private static final long MINUTE = 60_000;
  private static final long START = 100 * MINUTE;
  private static final String LABELS =
      "{service_name=\"cart\",span_name=\"GET /\",span_kind=\"SPAN_KIND_SERVER\","
          + "status_code=\"STATUS_CODE_OK\",region=\"%s\"%s}";
  private static final String LIVE = "traces_span_metrics_calls_total" + LABELS;
  private static final String BACKFILLED = "backfill_" + LIVE + " %d %d.000";

  private final List<String> differences = new ArrayList<>();
  private SeamTruth truth = new SeamTruth("cart", true, START);

  private void send(int minute, String region, boolean certain) {
    truth.add(
        new SeriesKey("cart", "GET /", "SPAN_KIND_SERVER", "STATUS_CODE_OK", region),
        certain,
        new PaneTruth.Accepted(at(minute), at(minute)));
  }

  private static long at(int minute) {
    return START + minute * MINUTE + MINUTE / 2;
  }

  private void live(int minute, String region, int calls) {
    truth.live(LIVE.formatted(region, ",trace_etl_queue=\"a/0\""), at(minute), calls);
  }

  private static String backfilled(int minute, String region, int calls) {
    return BACKFILLED.formatted(region, "", calls, at(minute) / 1_000);
  }

  private String compare() {
    return truth.compare(START + 20 * MINUTE, 1_000, differences::add);
  }

  @Test
  void eachSpanIsBackfilledOrLive() {
    for (int minute = 1; minute <= 4; minute++) {
      send(minute, "eu", true);
    }
    send(1, "", true);
    truth.backfilled(
        List.of(
            "# TYPE a counter",
            backfilled(0, "eu", 0),
            backfilled(1, "eu", 1),
            backfilled(2, "eu", 2),
            backfilled(5, "", 7),
            "# EOF"));
    live(3, "eu", 1);
    live(4, "eu", 1);

    assertThat(compare()).isEqualTo("gaps=0 overlaps=0 wrong=0 series=1 backfilled=2 live=2");
    assertThat(differences).isEmpty();
  }

  @Test
  void counterThatBeginsAgainGoesOn() {
    send(1, "eu", true);
    send(5, "eu", true);
    truth.backfilled(
        List.of(backfilled(1, "eu", 1), backfilled(4, "eu", 0), backfilled(5, "eu", 1)));

    assertThat(compare()).startsWith("gaps=0 overlaps=0 wrong=0");
  }

  @Test
  void missingRepeatedAndMovedSpansAreFound() {
    for (String region : List.of("eu", "us", "ap")) {
      send(1, region, true);
      send(3, region, true);
    }
    truth.backfilled(
        List.of(backfilled(1, "eu", 1), backfilled(1, "us", 1), backfilled(2, "ap", 1)));
    live(1, "us", 1);
    live(3, "us", 1);
    live(3, "ap", 1);

    assertThat(compare()).startsWith("gaps=1 overlaps=1 wrong=3");
    assertThat(differences)
        .anyMatch(each -> each.contains("eu: 1 spans backfilled and 0 live instead of 2 to 2"))
        .anyMatch(each -> each.contains("us: 1 spans backfilled and 2 live instead of 2 to 2"))
        .anyMatch(each -> each.contains("0 calls of ap before"));
  }

  @Test
  void spansOfUnknownOutcomeMayCount() {
    send(1, "eu", true);
    send(2, "eu", false);
    truth.backfilled(List.of(backfilled(1, "eu", 1)));
    assertThat(compare()).startsWith("gaps=0 overlaps=0 wrong=0");
    live(2, "eu", 1);
    assertThat(compare()).startsWith("gaps=0 overlaps=0 wrong=0");
    live(2, "eu", 1);
    assertThat(compare()).startsWith("gaps=0 overlaps=1");
  }

  @Test
  void spansInGroupsMayLackTheirRegion() {
    truth = new SeamTruth("cart", false, START);
    send(1, "eu", true);
    send(2, "eu", true);
    truth.backfilled(List.of(backfilled(2, "eu", 1)));
    assertThat(compare()).startsWith("gaps=0 overlaps=0 wrong=0");
  }

  @Test
  void emptyBackfillIsFound() {
    send(1, "eu", true);
    live(1, "eu", 1);
    compare();

    assertThat(differences).containsExactly("the backfill has no span with a region");
  }
}
