package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class MeasureTruthTest {
  private static final Map<String, Set<String>> ALL =
      Map.of("cart", Set.of(MeasureTruth.AMOUNT, MeasureTruth.DURATION, MeasureTruth.REQUESTS));
  private static final String AMOUNT =
      """
      sim_amount_bucket{service_name="%1$s",region="%2$s",le="10.0"} %3$d
      sim_amount_bucket{service_name="%1$s",region="%2$s",le="+Inf"} %4$d
      sim_amount_sum{service_name="%1$s",region="%2$s"} %5$s
      sim_amount_count{service_name="%1$s",region="%2$s"} %4$d
      """;
  private static final String REQUESTS = "sim_requests_total{service_name=\"cart\"} %d%n";

  private final MeasureTruth truth = new MeasureTruth(application -> application.equals("cart"));
  private final List<String> differences = new ArrayList<>();

  private void add(String application, String amount, boolean certain) {
    SeriesKey series =
        new SeriesKey(application, "select", "SPAN_KIND_CLIENT", "STATUS_CODE_OK", "eu");
    truth.add(series, 1_000_000, amount, certain);
  }

  private void compare(Map<String, Set<String>> inForce, String... pages) {
    differences.clear();
    truth.compare(List.of(pages).stream().map(PageSample::of).toList(), inForce, differences::add);
  }

  @Test
  void valuesOfAMeasureInForceAreCountedExactly() {
    add("cart", "3", true);
    add("cart", "12.25", true);
    add("cart", "many", true);
    add("cart", "-4", true);
    add("cart", "", true);
    String all = AMOUNT.formatted("cart", "eu", 1, 2, "15.25") + REQUESTS.formatted(4);

    compare(ALL, all);
    assertThat(differences).isEmpty();
    assertThat(truth.wereCompared()).isTrue();

    compare(ALL, AMOUNT.formatted("cart", "eu", 1, 2, "15.5") + REQUESTS.formatted(4));
    assertThat(differences).singleElement().asString().contains("sum 15.5", "15.25");
    compare(ALL, AMOUNT.formatted("cart", "us", 1, 2, "15.25") + REQUESTS.formatted(4));
    assertThat(differences)
        .hasSize(2)
        .anySatisfy(each -> assertThat(each).contains("us", "no span"));
    compare(ALL, AMOUNT.formatted("cart", "eu", 2, 2, "15.25") + REQUESTS.formatted(4));
    assertThat(differences).singleElement().asString().contains("up to 10.0 2");
    compare(ALL, AMOUNT.formatted("cart", "eu", 1, 2, "15.25"));
    assertThat(differences).singleElement().asString().contains("requests", "0.0", "4.0");
  }

  @Test
  void valuesMayCountWhileServersDiffer() {
    add("cart", "3", true);
    compare(null, "");
    assertThat(differences).isEmpty();
    compare(null, AMOUNT.formatted("cart", "eu", 1, 1, "3"));
    assertThat(differences).isEmpty();
    assertThat(truth.wereCompared()).isFalse();

    compare(null, AMOUNT.formatted("cart", "eu", 2, 2, "6"));
    assertThat(differences).anySatisfy(each -> assertThat(each).contains("region=eu", "count 2.0"));
  }

  @Test
  void valuesMayCountWithoutARegionWhileServersDiffer() {
    add("cart", "3", true);
    add("cart", "4", false);
    String without = AMOUNT.formatted("cart", "", 2, 2, "7");
    compare(null, without);
    assertThat(differences).isEmpty();
    compare(ALL, without + REQUESTS.formatted(1));
    assertThat(differences).anySatisfy(each -> assertThat(each).contains("region=]", "count 2.0"));

    compare(null, AMOUNT.formatted("cart", "", 3, 3, "10"));
    assertThat(differences).isNotEmpty();
    assertThat(differences).allSatisfy(each -> assertThat(each).contains("region=]", "count 3.0"));

    // Twice: with its region and without.
    compare(
        null, AMOUNT.formatted("cart", "eu", 2, 2, "7") + AMOUNT.formatted("cart", "", 1, 1, "3"));
    assertThat(differences).singleElement().asString().contains("region=]", "count 3.0");
  }

  @Test
  void shownValuesStayWhenAMeasureEnds() {
    add("cart", "3", true);
    String shown = AMOUNT.formatted("cart", "eu", 1, 1, "3") + REQUESTS.formatted(1);
    compare(null, shown);
    truth.settle(List.of(PageSample.of(shown)));
    add("cart", "3", true);

    compare(Map.of(), shown);
    assertThat(differences).isEmpty();
    compare(Map.of(), AMOUNT.formatted("cart", "eu", 2, 2, "6") + REQUESTS.formatted(1));
    assertThat(differences)
        .singleElement()
        .asString()
        .contains("count 2.000000 instead of 1.000000");
    compare(Map.of(), REQUESTS.formatted(1));
    assertThat(differences)
        .singleElement()
        .asString()
        .contains("count 0.000000 instead of 1.000000");
  }

  @Test
  void measuresOfAnApplicationWithoutRulesAreFound() {
    add("shop", "3", true);

    compare(ALL, AMOUNT.formatted("shop", "eu", 1, 1, "3"));

    assertThat(differences).singleElement().asString().contains("shop", "no span");
  }
}
