package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class TruthTest {
  private static final SeriesKey CART =
      new SeriesKey("cart", "GET /", "SPAN_KIND_SERVER", "STATUS_CODE_OK");
  private static final String LABELS =
      "service_name=\"cart\",span_name=\"GET /\",span_kind=\"SPAN_KIND_SERVER\","
          + "status_code=\"STATUS_CODE_OK\",trace_etl_queue=\"b/%d\"";

  private final Truth truth = new Truth(List.of(10.0, 100.0));
  private final List<String> differences = new ArrayList<>();

  @Test
  void theSumOverQueuesEqualsWhatWasSent() {
    truth.add(CART, 5_000_000, true);
    truth.add(CART, 100_000_000, true);

    compare(page(1, 1, 1, 1, 5), page(2, 0, 1, 1, 100));

    assertThat(differences).isEmpty();
  }

  @Test
  void aSpanThatIsCountedTwiceIsFound() {
    truth.add(CART, 5_000_000, true);

    compare(page(1, 2, 2, 2, 10));

    assertThat(differences).singleElement().asString().contains("calls 2 instead of 1 (+1)");
  }

  @Test
  void aLostSpanIsFoundIfNoPageHasItsSeries() {
    truth.add(CART, 5_000_000, true);

    compare();

    assertThat(differences).singleElement().asString().contains("calls 0 instead of 1");
  }

  @Test
  void aSpanInTheWrongBucketIsFound() {
    truth.add(CART, 50_000_000, true);

    compare(page(1, 1, 1, 1, 50));

    assertThat(differences)
        .singleElement()
        .asString()
        .contains("spans up to 10.0 ms 1 instead of 0");
  }

  @Test
  void aSpanWhoseSenderGaveUpMayCountOrNot() {
    truth.add(CART, 5_000_000, false);

    compare();
    compare(page(1, 1, 1, 1, 5));

    assertThat(differences).isEmpty();
  }

  @Test
  void settledSpansCountAsTheyWereShown() {
    truth.add(CART, 5_000_000, false);
    truth.add(CART, 50_000_000, false);
    assertThat(truth.isCertain()).isFalse();

    truth.settle(Naming.OTEL, List.of(page(1, 1, 1, 1, 5)));

    assertThat(truth.isCertain()).isTrue();
    compare(page(1, 1, 1, 1, 5));
    assertThat(differences).isEmpty();
    compare();
    compare(page(1, 1, 2, 2, 55));
    assertThat(differences).hasSize(2);
    assertThat(differences.get(0)).contains("calls 0 instead of 1");
    assertThat(differences.get(1)).contains("calls 2 instead of 1");
  }

  @Test
  void valuesThatAreNoNumbersDiffer() {
    truth.add(CART, 5_000_000, true);

    compare(PageSample.of(text(1, 1, 1, 1, 5).replaceAll("(?m) \\d+$", " NaN")));

    assertThat(differences)
        .singleElement()
        .asString()
        .contains("calls NaN", "sum of durations is NaN", "bucket of all spans NaN");
  }

  @Test
  void aSeriesThatNoSenderSentIsFound() {
    compare(page(1, 1, 1, 1, 5));

    assertThat(differences).singleElement().asString().contains("no sender sent");
  }

  @SafeVarargs
  private void compare(List<PageSample>... pages) {
    truth.compare(Naming.OTEL, List.of(pages), differences::add);
  }

  private static List<PageSample> page(int queue, int upTo10, int upTo100, int all, int sum) {
    return PageSample.of(text(queue, upTo10, upTo100, all, sum));
  }

  private static String text(int queue, int upTo10, int upTo100, int all, int sum) {
    String labels = LABELS.formatted(queue);
    String durations = Naming.OTEL.durations();
    return """
    %1$s{%2$s} %3$d
    %4$s_bucket{%2$s,le="10.0"} %5$d
    %4$s_bucket{%2$s,le="100.0"} %6$d
    %4$s_bucket{%2$s,le="+Inf"} %3$d
    %4$s_sum{%2$s} %7$d
    %4$s_count{%2$s} %3$d
    """
        .formatted(Naming.OTEL.calls(), labels, all, durations, upTo10, upTo100, sum);
  }

  @Test
  void spansOfAllFormsAreAddedUp() {
    truth.add(CART, 5_000_000, true);
    truth.add(CART, 50_000_000, true);
    truth.add(CART, 500_000_000, true);
    String inSeconds = form("seconds", 1, 1, 0.05, "0.1", 1);
    String other = form("milliseconds", 1, 1, 500, "200.0", 0);

    compare(PageSample.of(text(1, 1, 1, 1, 5) + inSeconds + other));
    assertThat(differences).isEmpty();

    compare(PageSample.of(text(1, 1, 1, 1, 5) + inSeconds));
    assertThat(differences).singleElement().asString().contains("calls 2 instead of 3");
  }

  @Test
  void boundsThatAFormLacksAreComparedWithThoseAround() {
    truth.add(CART, 5_000_000, true);
    compare(PageSample.of(form("milliseconds", 1, 1, 5, "50.0", 1)));
    assertThat(differences).isEmpty();

    compare(PageSample.of(form("milliseconds", 1, 1, 5, "50.0", 0)));
    assertThat(differences).singleElement().asString().contains("up to 10.0 ms 0 instead of 1");
  }

  @Test
  void nativeHistogramsCountAlone() {
    truth.add(CART, 5_000_000, true);
    String labels = LABELS.formatted(1) + ",trace_etl_form=\"1\"";
    String calls = "traces_span_metrics_calls_total{" + labels + "} 1\n";
    String natives =
        """
        traces_span_metrics_duration_seconds_native_count{%1$s} %2$d
        traces_span_metrics_duration_seconds_native_sum{%1$s} 0.005
        """;

    compare(PageSample.of(calls + natives.formatted(labels, 1)));
    assertThat(differences).isEmpty();

    compare(PageSample.of(calls + natives.formatted(labels, 2)));
    assertThat(differences).singleElement().asString().contains("count of durations 2");
  }

  private static String form(
      String unit, int queue, int calls, double sum, String le, int upToBound) {
    String labels = LABELS.formatted(queue) + ",trace_etl_form=\"" + le + "\"";
    String name = "traces_span_metrics_duration_" + unit;
    return """
    traces_span_metrics_calls_total{%1$s} %2$d
    %3$s_bucket{%1$s,le="%4$s"} %5$d
    %3$s_bucket{%1$s,le="+Inf"} %2$d
    %3$s_sum{%1$s} %6$s
    %3$s_count{%1$s} %2$d
    """
        .formatted(labels, calls, name, le, upToBound, sum);
  }
}
