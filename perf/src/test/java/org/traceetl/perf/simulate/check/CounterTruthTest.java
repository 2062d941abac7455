package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class CounterTruthTest {
  private static final SeriesKey CART =
      new SeriesKey("cart", "GET /", "SPAN_KIND_SERVER", "STATUS_CODE_OK");

  private final CounterTruth truth = new CounterTruth("size", Naming::sizes);
  private final List<String> differences = new ArrayList<>();

  @Test
  void theSumOverQueuesEqualsTheBytesThatWereSent() {
    truth.add(CART, 60, true);
    truth.add(CART, 70, true);

    compare(page(1, 60), page(2, 70));

    assertThat(differences).isEmpty();
  }

  @Test
  void aLostSizeIsFoundAlsoIfNoPageHasTheSeries() {
    truth.add(CART, 60, true);

    compare(page(1, 59));
    compare();

    assertThat(differences).hasSize(2);
    assertThat(differences.get(0)).contains("size 59 instead of 60");
    assertThat(differences.get(1)).contains("size 0 instead of 60");
  }

  @Test
  void aSizeThatCountsTwiceIsFound() {
    truth.add(CART, 60, true);

    compare(page(1, 120));

    assertThat(differences).singleElement().asString().contains("size 120 instead of 60");
  }

  @Test
  void withoutADemandASizeMayCountOrNotAndThenStays() {
    truth.add(CART, 60, false);
    compare();
    compare(page(1, 60));
    assertThat(differences).isEmpty();
    assertThat(truth.areKnown()).isFalse();

    truth.settle(Naming.OTEL, List.of(page(1, 60)));

    assertThat(truth.areKnown()).isTrue();
    compare(page(1, 60));
    assertThat(differences).isEmpty();
    compare();
    assertThat(differences).singleElement().asString().contains("size 0 instead of 60");
  }

  @Test
  void aSizeThatIsNotAskedForIsFound() {
    compare(page(1, 60));

    assertThat(differences).singleElement().asString().contains("size 60 instead of 0");
  }

  @Test
  void aSizeThatIsNoNumberDiffers() {
    truth.add(CART, 60, false);

    compare(PageSample.of(text(1, "NaN")));

    assertThat(differences).singleElement().asString().contains("size NaN instead of 0 to 60");
  }

  @SafeVarargs
  private void compare(List<PageSample>... pages) {
    truth.compare(Naming.OTEL, List.of(pages), differences::add);
  }

  private static List<PageSample> page(int queue, int bytes) {
    return PageSample.of(text(queue, Integer.toString(bytes)));
  }

  private static String text(int queue, String value) {
    return Naming.OTEL.sizes()
        + "{service_name=\"cart\",span_name=\"GET /\",span_kind=\"SPAN_KIND_SERVER\","
        + "status_code=\"STATUS_CODE_OK\",trace_etl_queue=\"b/"
        + queue
        + "\"} "
        + value
        + "\n";
  }
}
