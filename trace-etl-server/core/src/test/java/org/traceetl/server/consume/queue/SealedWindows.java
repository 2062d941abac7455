package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Seals windows for tests, and reads them. */
public final class SealedWindows {
  private SealedWindows() {}

  /** Ends the open window; returns null if it is empty or its predecessor is not given back. */
  public static SealedWindow seal(QueueAggregator aggregator, long offset, long nowMillis) {
    FilledWindow filled = aggregator.swap(offset, nowMillis);
    if (filled == null) {
      return null;
    }
    SealedWindow window = filled.seal();
    // Asserts what a journal asserts before it writes a window.
    new RecordPayloads(() -> null).bytes(window);
    filled.giveBack();
    return window;
  }

  /** Returns the counts of each bucket, by the values of the series that the window created. */
  static Map<List<String>, List<Long>> countsByValues(SealedWindow window) {
    Map<List<String>, List<Long>> counts = new HashMap<>();
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      SeriesDefinition definition =
          window.created().stream().filter(d -> d.series() == series).findFirst().orElseThrow();
      List<Long> buckets = new ArrayList<>();
      for (int bucket = 0; bucket < window.stride(); bucket++) {
        buckets.add(window.counts()[row * window.stride() + bucket]);
      }
      counts.put(definition.values(), buckets);
    }
    return counts;
  }

  static List<String> values(String... values) {
    return Arrays.asList(values);
  }

  /** Checks that each application's spans received are recorded, or not counted for a reason. */
  static void assertBalanced(SealedWindow window) {
    for (Books books : window.books()) {
      long rejected = books.rejected().values().stream().mapToLong(Long::longValue).sum();
      assertThat(books.received())
          .as("%s", books)
          .isEqualTo(
              books.recorded()
                  + books.overflowed()
                  + books.filtered()
                  + books.duplicate()
                  + rejected);
    }
  }

  static Books books(SealedWindow window, String application) {
    return window.books().stream()
        .filter(b -> b.application().equals(application))
        .findFirst()
        .orElseThrow();
  }
}
