package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReceivedSpansTest {
  private static final long HOUR_MILLIS = 3_600_000;

  private final ReceivedSpans received = new ReceivedSpans();

  private static SealedWindow window(long openedMillis, Books... books) {
    return new RowlessWindow(new QueueId("broker", 0), 0, 1, openedMillis, openedMillis + 15_000)
        .books(List.of(books))
        .seal();
  }

  private static Books books(String application, long spans, long duplicate) {
    return new Books(application, spans, spans - duplicate, 0, 0, duplicate, Map.of(), 0);
  }

  private List<ReceivedSpans.Received> all() {
    List<ReceivedSpans.Received> all = new ArrayList<>();
    received.forEach(all::add);
    return all;
  }

  @Test
  void spansAddUpSinceTheFirstOneWithoutDuplicates() {
    received.add(window(1_000, books("a", 5, 2), books("", 7, 0), books("b", 3, 3)));
    received.add(window(16_000, books("a", 4, 0)));

    assertThat(all()).containsExactly(new ReceivedSpans.Received("a", 7, 1_000, 16_000));
  }

  @Test
  void anApplicationThatIsSilentForADayLeaves() {
    received.add(window(0, books("a", 5, 0), books("b", 5, 0)));
    received.add(window(12 * HOUR_MILLIS, books("a", 1, 0)));
    received.add(window(25 * HOUR_MILLIS, books("c", 1, 0)));

    assertThat(all())
        .extracting(ReceivedSpans.Received::application, ReceivedSpans.Received::spans)
        .containsExactly(tuple("a", 6L), tuple("c", 1L));
  }

  @Test
  void theQuietestLeaveAboveTheMostThatAreKept() {
    Books[] books = new Books[ReceivedSpans.MOST];
    for (int i = 0; i < books.length; i++) {
      books[i] = books("a" + i, 1, 0);
    }
    received.add(window(0, books));
    received.add(window(15_000, books("a0", 1, 0), books("new", 1, 0)));

    assertThat(received.size()).isEqualTo(ReceivedSpans.MOST);
    assertThat(all().getFirst().application()).isEqualTo("a2");
    assertThat(all())
        .endsWith(
            new ReceivedSpans.Received("a0", 2, 0, 15_000),
            new ReceivedSpans.Received("new", 1, 15_000, 15_000));
  }
}
