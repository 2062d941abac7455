package org.traceetl.perf.simulate.check;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.traceetl.testkit.PageSample;

/** The books of an agent, and the bounds of its memory and its disk. */
public final class AgentBooks {
  private static final String PREFIX = "trace_etl_agent_";

  /** One batch of each queue may be in memory in addition, so that no queue blocks another. */
  private static final long BATCH_OF_EACH_QUEUE_BYTES = 1 << 19;

  private AgentBooks() {}

  /** Returns the number of batches in the spool. */
  public static double batches(List<PageSample> page) {
    return sum(page, "spool_batches");
  }

  /**
   * Checks a page of any time.
   *
   * @param recovered batches in the spool after the agent's start: may exceed the limit, because
   *     batches that were settled just before a crash are unsettled again
   */
  public static void checkBounds(
      String agent, List<PageSample> page, double recovered, Consumer<String> failures) {
    for (String[] bound :
        new String[][] {
          {"spool_bytes", "spool_limit_bytes"},
          {"spool_batches", "spool_limit_batches"},
          {"in_flight_bytes", "in_flight_limit_bytes"},
          {"batch_memory_bytes", "in_flight_limit_bytes"},
        }) {
      double value = sum(page, bound[0]);
      double limit = sum(page, bound[1]);
      if (bound[0].equals("batch_memory_bytes")) {
        limit += BATCH_OF_EACH_QUEUE_BYTES;
      } else if (bound[0].equals("spool_batches")) {
        limit = Math.max(limit, recovered);
      }
      if (!(value <= limit)) {
        failures.accept(
            String.format(
                Locale.ROOT, "%s of %s is %.0f, above %.0f", bound[0], agent, value, limit));
      }
    }
  }

  /** Checks a page of a time without load. */
  public static void checkBalance(String agent, List<PageSample> page, Consumer<String> failures) {
    balance(
        agent,
        "spans received",
        sum(page, "spans_received_total"),
        sum(page, "spans_accepted_total")
            + sum(page, "spans_filtered_total")
            + sum(page, "spans_rejected_total")
            + sum(page, "spans_failed_total"),
        failures);
    balance(
        agent,
        "spans accepted and recovered",
        sum(page, "spans_accepted_total") + sum(page, "spans_recovered_total"),
        sum(page, "spans_published_total")
            + sum(page, "spool_spans")
            + sum(page, "spans_dropped_total"),
        failures);
    double dropped = sum(page, "spans_dropped_total") + sum(page, "spans_rejected_total");
    if (dropped != 0) {
      failures.accept(String.format(Locale.ROOT, "%s dropped %.0f spans", agent, dropped));
    }
  }

  private static double sum(List<PageSample> page, String name) {
    return PageSample.sum(page, PREFIX + name);
  }

  private static void balance(
      String agent, String what, double in, double out, Consumer<String> failures) {
    if (in != out) {
      failures.accept(
          String.format(
              Locale.ROOT,
              "%s: %s are %.0f, but the counters of their outcomes sum to %.0f",
              agent,
              what,
              in,
              out));
    }
  }
}
