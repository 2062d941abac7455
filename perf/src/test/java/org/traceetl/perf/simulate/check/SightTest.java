package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class SightTest {
  private final List<String> failures = new ArrayList<>();
  private final Sight sight = new Sight(Naming.OTEL, failures::add);

  @Test
  void aQueueMayMoveWithItsValues() {
    sight.read(pages("server-1", calls(1, 5), "server-2", ""));
    sight.read(pages("server-1", "", "server-2", ""));
    sight.read(pages("server-1", "", "server-2", calls(1, 5)));

    assertThat(failures).isEmpty();
  }

  @Test
  void twoServersThatShowAQueueAreFound() {
    sight.read(pages("server-1", calls(1, 5), "server-2", calls(1, 5)));

    assertThat(failures).containsExactly("queue b/1 is shown by server-1 and server-2");
  }

  @Test
  void aSeriesThatDecreasesOnItsNextServerIsFound() {
    sight.read(pages("server-1", calls(1, 5), "server-2", ""));
    sight.read(pages("server-1", "", "server-2", calls(1, 4)));

    assertThat(failures)
        .singleElement()
        .asString()
        .contains("decreased, now on server-2: 4.0 after 5.0");
  }

  @Test
  void aCreatedTimeThatChangesIsFound() {
    sight.read(pages("server-1", created(7), "server-2", ""));
    sight.read(pages("server-1", "", "server-2", created(8)));

    assertThat(failures).singleElement().asString().contains("changed, now on server-2");
  }

  @Test
  void aServersOwnCounterMayRestartWithItsProcessOnly() {
    String two = "trace_etl_windows_total 2\n";
    String one = "trace_etl_windows_total 1\n";
    sight.read(pages("server-1", two, "server-2", two));
    sight.read(pages("server-1.2", one, "server-2", one));

    assertThat(failures)
        .containsExactly("trace_etl_windows_total decreased on server-2: 1.0 after 2.0");
  }

  @Test
  void booksThatDoNotBalanceAreFound() {
    String books =
        """
        trace_etl_spans_received_total{application="cart"} 7
        trace_etl_spans_recorded_total{application="cart"} 4
        trace_etl_spans_rejected_total{application="cart",reason="malformed"} %d
        """;
    sight.read(pages("server-1", books.formatted(3), "server-2", books.formatted(2)));

    assertThat(failures).containsExactly("the books of cart on server-2 differ: received +1");
  }

  private static String calls(int queue, int spans) {
    return "%s{service_name=\"cart\",trace_etl_queue=\"b/%d\"} %d%n"
        .formatted(Naming.OTEL.calls(), queue, spans);
  }

  private static String created(int at) {
    return "%s_created{service_name=\"cart\"} %d%n".formatted(Naming.OTEL.durations(), at);
  }

  private static SortedMap<String, List<PageSample>> pages(
      String first, String firstPage, String second, String secondPage) {
    SortedMap<String, List<PageSample>> pages = new TreeMap<>();
    pages.put(first, PageSample.of(firstPage));
    pages.put(second, PageSample.of(secondPage));
    return pages;
  }
}
