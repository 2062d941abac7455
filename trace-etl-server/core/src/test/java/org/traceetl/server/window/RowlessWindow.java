package org.traceetl.server.window;

import java.util.List;

/** Builds windows without rows: with books, documents, definitions or batches only. */
public final class RowlessWindow {
  private static final long PANE_MILLIS = 15_000;

  private final QueueId queue;
  private final long from;
  private final long to;
  private final long openedMillis;
  private final long sealedMillis;
  private int stride = 1;
  private List<SeriesDefinition> created = List.of();
  private int[] evicted = new int[0];
  private List<TraceDocument> documents = List.of();
  private List<Books> books = List.of();
  private long schema = 1;
  private AcceptedBatches batches = AcceptedBatches.NONE;
  private WindowCompleteness completeness = WindowCompleteness.NONE;

  public RowlessWindow(QueueId queue, long from, long to, long openedMillis, long sealedMillis) {
    this.queue = queue;
    this.from = from;
    this.to = to;
    this.openedMillis = openedMillis;
    this.sealedMillis = sealedMillis;
  }

  public RowlessWindow stride(int buckets) {
    stride = buckets;
    return this;
  }

  public RowlessWindow created(List<SeriesDefinition> definitions) {
    created = definitions;
    return this;
  }

  public RowlessWindow evicted(int... series) {
    evicted = series;
    return this;
  }

  public RowlessWindow schema(long hash) {
    schema = hash;
    return this;
  }

  public RowlessWindow documents(List<TraceDocument> these) {
    documents = these;
    return this;
  }

  public RowlessWindow books(List<Books> these) {
    books = these;
    return this;
  }

  public RowlessWindow batches(long... runs) {
    batches = new AcceptedBatches(runs);
    return this;
  }

  /** Sets until when spans are complete, and panes of 15 s. */
  public RowlessWindow completeness(WindowCompleteness until) {
    completeness = until;
    return this;
  }

  public SealedWindow seal() {
    return new SealedWindow(
        queue,
        from,
        to,
        openedMillis,
        sealedMillis,
        created,
        evicted,
        0,
        stride,
        new int[0],
        new long[0],
        new long[0],
        new int[0],
        new int[0],
        documents,
        books,
        schema,
        new long[0],
        batches,
        NativeCounts.NONE,
        completeness.isEmpty()
            ? WindowPanes.NONE
            : new WindowPanes(PANE_MILLIS, openedMillis / PANE_MILLIS * PANE_MILLIS, 0, List.of()),
        completeness,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }
}
