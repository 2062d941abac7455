package org.traceetl.server.features.backfill;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.log.Printable;

/**
 * What a backfill read and wrote. Spans are those of the panes from {@code since} to {@code until},
 * with the weights of sampling.
 *
 * @param emptyQueues queues of which the broker has no messages since then
 * @param brokers names of the brokers of the queues
 * @param repeated batches that were counted before, of all messages
 * @param refused batches of the application, or of an unknown one, that cannot be read, of all
 *     messages
 * @param refusals those batches by reason, and the first of them; empty without one
 * @param overflowSpans how many of the spans are in overflow series
 * @param lackingSpans how many of the spans have a dimension that agents did not send
 * @param values values in measures
 * @param valuesLeftOut values that measures leave out, of all messages: invalid ones, or not sent
 * @param lateSpans how many of the spans are in a later pane because theirs was closed
 * @param mergedSpans how many spans are in a later pane because a window had too many panes
 * @param series one that ended and began again counts twice
 * @param openAfter panes that end later were open in some queue; null for none
 * @param seam where live series begin; null if the user gave the end
 * @param sent what a receiver got; null without one
 */
public record BackfillResult(
    String application,
    Instant since,
    Instant until,
    Duration pane,
    int queues,
    int emptyQueues,
    List<String> brokers,
    long messages,
    long bytes,
    long repeated,
    long refused,
    String refusals,
    long spans,
    long overflowSpans,
    long lackingSpans,
    long values,
    long valuesLeftOut,
    long lateSpans,
    long mergedSpans,
    long series,
    long samples,
    int files,
    Instant openAfter,
    AtSeam seam,
    Sent sent) {
  private static final int MAX_SHOWN = 60;

  /** Reasons why a receiver refuses samples that are before its newest ones. */
  private static final Set<String> TOO_OLD = Set.of("out_of_bounds", "out_of_order");

  private static final double BYTES_PER_MEGABYTE = 1e6;

  /**
   * Where live series begin.
   *
   * @param at end of the last pane in which live series by the rules before also counted
   * @param news labels and measures that live series had not before
   * @param stragglers how many of the spans are in later panes
   * @param owed spans and values of live series in panes in which the backfill found none
   */
  public record AtSeam(Instant at, String news, long stragglers, long owed) {}

  /**
   * What a receiver got in this run.
   *
   * @param refused samples by reason
   */
  public record Sent(long samples, Map<String, Long> refused) {}

  /** Prints it for people. */
  public void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%s: %s to %s, panes of %d ms, %d queues of %s%s%n",
        Printable.of(application, MAX_SHOWN),
        since,
        until,
        pane.toMillis(),
        queues,
        String.join(", ", brokers),
        emptyQueues == 0 ? "" : ", " + emptyQueues + " of them without messages since then");
    out.printf(
        Locale.ROOT,
        "read     %d messages, %.1f MB; %d repeated batches, %d refused%s%n",
        messages,
        bytes / BYTES_PER_MEGABYTE,
        repeated,
        refused,
        refused == 0 ? "" : ": " + refusals);
    out.printf(Locale.ROOT, "counted  %d spans in %d series%n", spans, series);
    row(out, overflowSpans, "in overflow series, because limits were reached");
    row(
        out,
        lackingSpans,
        "with the value "
            + BatchDecoder.NOT_SENT
            + ", because agents did not send a dimension that was not demanded");
    row(
        out,
        lateSpans,
        "late: in the first pane that was not closed. Panes closed as in a server that reads these"
            + " messages, not as in the journal");
    if (mergedSpans > 0) {
      row(out, mergedSpans, "in a later pane, because too many panes were open");
    }
    if (values + valuesLeftOut > 0) {
      out.printf(
          Locale.ROOT,
          "measured %d values in measures; of all messages, %d are left out: invalid, or not"
              + " sent%n",
          values,
          valuesLeftOut);
    }
    if (openAfter != null) {
      out.printf(
          Locale.ROOT,
          "         Panes after %s were not closed yet in each queue: messages that arrive later"
              + " may have spans of them%n",
          openAfter);
    }
    out.printf(Locale.ROOT, "written  %d samples in %d files%n", samples, files);
    if (sent != null) {
      printSent(out);
    }
    if (seam != null) {
      printSeam(out);
    }
    out.flush();
  }

  private void printSent(PrintWriter out) {
    out.printf(Locale.ROOT, "sent     %d samples%n", sent.samples);
    sent.refused.forEach((reason, count) -> {
      if (count > 0) {
        out.printf(
            Locale.ROOT,
            "         %d more %s%n",
            count,
            reason.equals(SampleReceiver.DUPLICATE)
                ? "were there already"
                : "were refused: "
                    + reason
                    + (TOO_OLD.contains(reason)
                        ? "; set storage.tsdb.out_of_order_time_window in Prometheus, and repeat the"
                            + " command"
                        : ""));
      }
    });
  }

  private void printSeam(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "seam     %s: add live series with %s; show live series without it only after that%n",
        seam.at,
        seam.news);
    if (seam.stragglers > 0) {
      row(out, seam.stragglers, "after the seam, because a server counted them without the label");
    }
    if (seam.owed > 0) {
      out.printf(
          Locale.ROOT,
          "         %d spans or values of live series were not found in the same pane, and count"
              + " twice%n",
          seam.owed);
    }
  }

  private static void row(PrintWriter out, long spans, String what) {
    out.printf(Locale.ROOT, "         %d of them %s%n", spans, what);
  }
}
