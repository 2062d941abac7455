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
 * @param estimates of these, by series, those with most first; series without a span in the sample
 *     are absent, as are those after the first 200,000
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
    List<Estimate> estimates,
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
  private static final int MAX_ESTIMATES = 50;
  private static final int MAX_LABELS_SHOWN = 300;

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
   * The spans of a series of which agents did not send a dimension, estimated from the sample of
   * whole spans.
   *
   * @param labels of the series
   * @param exact spans that were counted in the series, in addition
   * @param lower the true number is at least this, and at most {@code upper}, with 95 % confidence
   */
  public record Estimate(String labels, long exact, long estimated, long lower, long upper) {}

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
    printEstimates(out);
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

  /** Says what is exact, and what the samples say of the rest. */
  private void printEstimates(PrintWriter out) {
    if (lackingSpans == 0) {
      return;
    }
    out.printf(
        Locale.ROOT,
        "exact    all counts by the dimensions that agents sent, and %d spans by all dimensions%n"
            + "sampled  the other %d spans have %d series in the sample; the true number of a series"
            + " is between the bounds with 95 %% confidence%n",
        spans - lackingSpans,
        lackingSpans,
        estimates.size());
    estimates.stream()
        .limit(MAX_ESTIMATES)
        .forEach(each ->
            out.printf(
                Locale.ROOT,
                "         %d exact + ~%d (%d to %d): %s%n",
                each.exact,
                each.estimated,
                each.lower,
                each.upper,
                Printable.of(each.labels, MAX_LABELS_SHOWN)));
    if (estimates.size() > MAX_ESTIMATES) {
      out.printf(Locale.ROOT, "         and %d more series%n", estimates.size() - MAX_ESTIMATES);
    }
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
