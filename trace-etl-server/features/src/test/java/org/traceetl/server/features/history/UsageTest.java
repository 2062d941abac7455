package org.traceetl.server.features.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;

/** The usage of applications, from windows of several queues. */
class UsageTest {
  private static final long MINUTE = 60_000;
  private static final long NOW = Instant.parse("2026-11-30T12:00:30Z").toEpochMilli();
  private static final long[] BOUNDS = {10_000_000};
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 0);

  private final History history =
      new History(10, 20, BOUNDS, () -> Instant.ofEpochMilli(NOW), new SplittableRandom(1));
  private final HistoryFollower follower =
      new HistoryFollower(
          history,
          new SeriesRules(
              1,
              BOUNDS,
              SeriesDefinition.FIXED_DIMENSIONS,
              true,
              definition -> true,
              kind -> "kind " + kind),
          20,
          new FleetWindows().readBy(() -> true));

  private static RowlessWindow window(QueueId queue, long sealedMillis) {
    return new RowlessWindow(queue, 0, 10, sealedMillis - 10_000, sealedMillis).stride(2);
  }

  private static SeriesDefinition series(int number, String application, int kind) {
    return new SeriesDefinition(
        number, 1, false, Arrays.asList(application, "GET /" + number, "" + kind, "0"));
  }

  private List<Usage> usage(long minutesAgo) {
    long minute = NOW / MINUTE - minutesAgo;
    return history.usage(minute, minute);
  }

  @Test
  void spansBytesAndDocumentsOfAllQueuesAddUp() {
    TraceDocument document =
        new TraceDocument(
            "0af7651916cd43dd8448eb211c803191",
            "b7ad6b7169203331",
            "shop",
            "GET /",
            2,
            2,
            "",
            1,
            1,
            TraceDocument.Reason.ERROR,
            Map.of());
    for (QueueId queue : List.of(A, B)) {
      follower.window(
          window(queue, NOW - 2 * MINUTE)
              .books(
                  List.of(
                      new Books("shop", 9, 4, 1, 1, 2, Map.of("malformed", 1L), 5).withBytes(70)))
              .documents(List.of(document, document))
              .seal());
    }

    assertThat(usage(2)).containsExactly(new Usage("shop", 14, 140, 0, 4));
    assertThat(usage(1)).isEmpty();
  }

  @Test
  void liveSeriesCountForTheTimeOfTheirWindows() {
    follower.window(
        window(A, NOW - 3 * MINUTE)
            .created(
                List.of(
                    series(0, "shop", 2),
                    // Of events.
                    series(70, "shop", 2 + SeriesDefinition.OF_EVENTS),
                    series(2, "bank", 2)))
            .seal());
    follower.window(window(A, NOW - 2 * MINUTE).evicted(0, 2, 0).seal());
    follower.window(window(A, NOW - MINUTE).seal());
    follower.window(window(B, NOW - MINUTE).created(List.of(series(0, "shop", 2))).seal());

    assertThat(usage(3))
        .containsExactlyInAnyOrder(
            new Usage("shop", 0, 0, 20_000, 0), new Usage("bank", 0, 0, 10_000, 0));
    assertThat(usage(2)).containsExactly(new Usage("shop", 0, 0, 10_000, 0));
    assertThat(usage(1)).containsExactly(new Usage("shop", 0, 0, 20_000, 0));
    assertThat(history.books(10).applications()).as("no spans").isEmpty();
  }
}
