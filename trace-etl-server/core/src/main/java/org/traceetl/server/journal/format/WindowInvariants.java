package org.traceetl.server.journal.format;

import com.google.common.math.LongMath;
import java.util.BitSet;
import java.util.function.IntPredicate;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;

/**
 * What holds for every window of a journal. A writer asserts it before it writes a window: a fault
 * of the program stops at the journal, and the spans are read again. A reader reports a window that
 * violates it, and applies the window, because later records continue it. The cost is in proportion
 * to the window's numbers; nothing is allocated for a row. A window with several panes is copied
 * once.
 */
public final class WindowInvariants {
  private static final int MAX_DOCUMENT_KIND = 5;
  private static final int MAX_DOCUMENT_STATUS = 2;

  private WindowInvariants() {}

  /** Returns what a window must not have; null if it is consistent. */
  public static String violated(SealedWindow window) {
    if (window.from() < 0 || window.to() < 0) {
      return "a negative offset";
    }
    String violated = inShape(window) ? null : "arrays that do not fit its rows";
    violated = violated == null ? ofRows(window) : violated;
    violated = violated == null ? ofSeries(window) : violated;
    violated = violated == null ? ofDocuments(window) : violated;
    violated = violated == null ? ofBatches(window.batches()) : violated;
    violated = violated == null ? PaneInvariants.violated(window) : violated;
    violated = violated == null ? ofCompleteness(window) : violated;
    violated = violated == null ? ofClosed(window) : violated;
    violated = violated == null ? EdgeInvariants.violated(window) : violated;
    return violated == null ? ofBooks(window) : violated;
  }

  private static boolean inShape(SealedWindow window) {
    int rows = window.rows();
    NativeCounts natives = window.natives();
    return window.stride() <= WindowFormat.MAX_STRIDE
        && window.buckets() >= 0
        && window.series().length == rows
        && window.counts().length == (long) rows * window.stride()
        && window.durationNanos().length == rows
        && window.exemplars().length == rows
        && window.exemplarBuckets().length == rows
        && window.carries().length == rows
        && (natives.isEmpty() || natives.ends().length == rows);
  }

  private static String ofRows(SealedWindow window) {
    for (int row = 0; row < window.rows(); row++) {
      if (isNoSeries(window.series()[row])) {
        return "a row of series " + window.series()[row];
      }
      if (window.durationNanos()[row] < 0 || window.carries()[row] < 0) {
        return "a negative sum of durations, or a negative carry";
      }
      int exemplar = window.exemplars()[row];
      int bucket = window.exemplarBuckets()[row];
      if (exemplar < -1
          || exemplar >= window.documents().size()
          || bucket < 0
          || bucket >= window.buckets()) {
        return "an exemplar " + exemplar + " in bucket " + bucket;
      }
      long spans = spans(window.counts(), row, window);
      if (spans < 0) {
        return "a negative count of spans";
      }
      if (size(window.counts(), row, window) < 0) {
        return "a negative size of spans";
      }
      if (hasNative(window, row) && spans != nativeSpans(window.natives(), row)) {
        return "a native histogram of "
            + nativeSpans(window.natives(), row)
            + " spans in a row of "
            + spans;
      }
    }
    return null;
  }

  private static boolean isNoSeries(int series) {
    return series < 0 || series >= DefinitionFormat.MAX_SERIES;
  }

  /** Returns the spans of a row, or a negative number if a bucket has one. */
  static long spans(long[] counts, int row, SealedWindow window) {
    int first = row * window.stride();
    return sum(counts, first, first + window.buckets());
  }

  /** Returns the size of a row's spans; 0 if the window has no sizes. */
  static long size(long[] counts, int row, SealedWindow window) {
    return window.hasSizes() ? counts[(row + 1) * window.stride() - 1] : 0;
  }

  /** Returns the sum of {@code numbers[from, to)}, or a negative number if one of them is. */
  static long sum(long[] numbers, int from, int to) {
    long sum = 0;
    long signs = 0;
    for (int i = from; i < to; i++) {
      sum += numbers[i];
      signs |= numbers[i];
    }
    return signs < 0 ? -1 : sum;
  }

  /**
   * Returns whether a row has a native histogram; series of other forms than others may lack it.
   */
  static boolean hasNative(SealedWindow window, int row) {
    return window.natives().begin(row) < window.natives().end(row);
  }

  private static long nativeSpans(NativeCounts natives, int row) {
    long spans = 0;
    for (int i = natives.begin(row); i < natives.end(row); i++) {
      spans += natives.counts()[i];
    }
    return spans;
  }

  private static String ofSeries(SealedWindow window) {
    for (SeriesDefinition definition : window.created()) {
      if (isNoSeries(definition.series())) {
        return "a new series " + definition.series();
      }
    }
    for (int series : window.evicted()) {
      if (isNoSeries(series)) {
        return "an evicted series " + series;
      }
    }
    return null;
  }

  private static String ofDocuments(SealedWindow window) {
    for (TraceDocument document : window.documents()) {
      if (document.kind() < 0
          || document.kind() > MAX_DOCUMENT_KIND
          || document.status() < 0
          || document.status() > MAX_DOCUMENT_STATUS) {
        return "a document of kind " + document.kind() + " and status " + document.status();
      }
    }
    return null;
  }

  /** Names of batches ascend, so that no batch counts twice in a window. */
  private static String ofBatches(AcceptedBatches batches) {
    for (int run = 0; run < batches.size(); run++) {
      boolean isRun = batches.first(run) >= 0 && batches.first(run) <= batches.last(run);
      if (!isRun || run > 0 && !batches.isAfterPrevious(run)) {
        return "batches "
            + batches.first(run)
            + " to "
            + batches.last(run)
            + " of epoch "
            + batches.epoch(run)
            + " out of order";
      }
    }
    return null;
  }

  private static String ofCompleteness(SealedWindow window) {
    WindowCompleteness completeness = window.completeness();
    if (completeness.isEmpty()) {
      return null;
    }
    if (window.panes().isEmpty()) {
      return "a time until which its spans are complete, but no panes";
    }
    return completeness.agents() < 0 || completeness.named().size() > WindowCompleteness.MAX_NAMED
        ? completeness.agents() + " agents, and names of " + completeness.named().size()
        : null;
  }

  private static String ofClosed(SealedWindow window) {
    if (window.closedMillis() == SealedWindow.UNKNOWN_CLOSED) {
      return null;
    }
    if (window.panes().isEmpty()) {
      return "a time until which panes are closed, but no panes";
    }
    return PanesFormat.isTime(window.closedMillis())
        ? null
        : "panes closed until " + window.closedMillis();
  }

  private static String ofBooks(SealedWindow window) {
    long counted = 0;
    for (Books books : window.books()) {
      if (!books.balance()) {
        return "unbalanced books: " + books;
      }
      // A half-edge without room is in no series.
      counted += books.recorded() + (window.edges().isNone() ? books.overflowed() : 0);
    }
    long inRows = 0;
    for (long count : window.counts()) {
      // Variances may be close to the highest number.
      inRows = LongMath.saturatedAdd(inRows, count);
    }
    // A span counts at least once: a sampled one as several, and events count in addition.
    return inRows < counted ? inRows + " spans in its rows and " + counted + " in its books" : null;
  }

  /**
   * Returns a series with a row in a window that neither the window nor an earlier one defines; -1
   * if all are defined.
   *
   * @param known tests whether a series was defined before
   */
  public static int undefined(SealedWindow window, IntPredicate known) {
    BitSet created = new BitSet();
    window.created().forEach(definition -> created.set(definition.series()));
    for (int series : window.series()) {
      if (!created.get(series) && !known.test(series)) {
        return series;
      }
    }
    return -1;
  }
}
