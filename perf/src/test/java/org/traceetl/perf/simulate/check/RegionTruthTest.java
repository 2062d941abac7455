package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class RegionTruthTest {
  private static final String CALLS =
      "traces_span_metrics_calls_total{service_name=\"%s\",span_name=\"GET /\","
          + "span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_OK\"%s} %d%n";

  private final RegionTruth truth = new RegionTruth(application -> application.equals("cart"));
  private final List<String> differences = new ArrayList<>();

  RegionTruthTest() {
    add("cart", "eu", 3);
    add("cart", "us", 3);
    add("shop", "eu", 3);
  }

  private void add(String application, String region, int spans) {
    for (int i = 0; i < spans; i++) {
      truth.add(new SeriesKey(application, "GET /", "SPAN_KIND_SERVER", "STATUS_CODE_OK", region));
    }
  }

  private void compare(String... series) {
    List<List<PageSample>> pages = new ArrayList<>();
    for (String page : series) {
      pages.add(PageSample.of(page));
    }
    truth.compare(Naming.OTEL, pages, differences::add);
  }

  @Test
  void spansMayCountWithoutTheirRegion() {
    compare(CALLS.formatted("cart", "", 6));
    assertThat(truth.areCounted()).isFalse();

    compare(
        CALLS.formatted("cart", "", 3) + CALLS.formatted("cart", ",region=\"eu\"", 2),
        CALLS.formatted("cart", ",region=\"eu\"", 1));

    assertThat(differences).isEmpty();
    assertThat(truth.areCounted()).isTrue();
  }

  @Test
  void spansInTheSeriesOfAnotherRegionAreFound() {
    compare(CALLS.formatted("cart", ",region=\"eu\"", 6));

    assertThat(differences)
        .singleElement()
        .asString()
        .contains("cart", "eu", "calls 6 instead of at most 3");
  }

  @Test
  void aRegionOfAnApplicationWithoutRulesIsFound() {
    compare(CALLS.formatted("shop", ",region=\"eu\"", 1));

    assertThat(differences).singleElement().asString().contains("shop", "at most 0");
  }
}
