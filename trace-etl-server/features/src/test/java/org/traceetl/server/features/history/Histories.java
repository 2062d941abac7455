package org.traceetl.server.features.history;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;

/** Histories without journals. */
public final class Histories {
  private Histories() {}

  /**
   * Adds what a window of a minute's length has of an application.
   *
   * @param counts spans by bucket, with a millisecond of duration in all
   */
  public static void add(
      History history, long openedMillis, String application, boolean failed, long... counts) {
    add(history, openedMillis, application, "GET /", "SPAN_KIND_SERVER", failed, counts);
  }

  /** Adds what a window has of an objective: events, of which one is good. */
  public static void addEvents(
      History history, long openedMillis, String application, String objective, long events) {
    add(history, openedMillis, application, objective, Operation.OBJECTIVE, false, events);
  }

  /** Adds what a window has of an operation. */
  public static void add(
      History history,
      long openedMillis,
      String application,
      String name,
      String kind,
      boolean failed,
      long... counts) {
    SpanSums sums = new SpanSums(history.boundsMillis().length + 1);
    sums.add(
        failed, 1_000_000, counts, 0, counts.length, IntStream.range(0, counts.length).toArray());
    history.addCalls(
        openedMillis, openedMillis + 60_000, List.of(calls(application, name, kind, sums)));
  }

  /** Adds a window that was sealed at this time, of the messages 0 to 9. */
  public static void add(
      History history,
      QueueId queue,
      long sealedMillis,
      List<Books> books,
      AcceptedBatches... batches) {
    long[] runs = Stream.of(batches).flatMapToLong(some -> LongStream.of(some.runs())).toArray();
    history.add(
        new RowlessWindow(queue, 0, 10, sealedMillis - 15_000, sealedMillis)
            .books(books)
            .batches(runs)
            .seal(),
        List.of(),
        Map.of());
  }

  /** Lets the history count as read. */
  public static void upToDate(History history) {
    history.setUpToDate();
  }

  /** What a window has of an operation. */
  static PaneCalls.OperationCalls calls(
      String application, String name, String kind, SpanSums sums) {
    return new PaneCalls.OperationCalls(new Operation(application, name, kind), sums);
  }
}
