package org.traceetl.server.journal.format;

import org.traceetl.server.window.AcceptedBatches;

/**
 * The format of one agent's runs of batches, sorted and with gaps between them:
 *
 * <pre>
 *   unsigned  runs n
 *   n times:
 *     signed    epoch, of the first run
 *     unsigned  epoch - epoch of the run before, of the others
 *     unsigned  first sequence; if the epoch is that of the run before: less its last one and 2
 *     unsigned  sequences - 1
 * </pre>
 */
public final class BatchesFormat {
  /** Minimum size of an agent's runs. */
  static final int MIN_BYTES = 4;

  private static final int MIN_RUN_BYTES = 3;

  private BatchesFormat() {}

  /**
   * @param from the agent's first run
   * @param to after its last one
   */
  static void write(AcceptedBatches batches, int from, int to, RecordWriter out) {
    out.unsigned(to - from);
    for (int run = from; run < to; run++) {
      boolean sameEpoch = run > from && batches.epoch(run) == batches.epoch(run - 1);
      if (run == from) {
        out.signed(batches.epoch(run));
      } else {
        out.unsigned(batches.epoch(run) - batches.epoch(run - 1));
      }
      out.unsigned(batches.first(run) - (sameEpoch ? batches.last(run - 1) + 2 : 0));
      out.unsigned(batches.last(run) - batches.first(run));
    }
  }

  /** Reads an agent's runs, at least one. */
  static void read(RecordReader in, long high, long low, Runs to) throws MalformedRecordException {
    int count = in.count(MIN_RUN_BYTES, "runs of an agent");
    if (count == 0) {
      throw in.malformed("has an agent without batches");
    }
    long epoch = 0;
    long last = -1;
    for (int run = 0; run < count; run++) {
      long step = run == 0 ? in.signed() : in.unsigned();
      if (run == 0) {
        epoch = step;
      } else if (step != 0) {
        if (epoch + step <= epoch) {
          throw in.malformed("has epochs that do not rise");
        }
        epoch += step;
      }
      boolean sameEpoch = run > 0 && step == 0;
      if (sameEpoch && last > Long.MAX_VALUE - 2) {
        throw in.malformed("has a run after the last sequence");
      }
      long least = sameEpoch ? last + 2 : 0;
      long first = least + in.upTo(Long.MAX_VALUE - least, "first sequence");
      last = first + in.upTo(Long.MAX_VALUE - first, "sequences of a run");
      to.add(high, low, epoch, first, last);
    }
  }

  /** Receives runs while they are read. */
  interface Runs {
    void add(long agentHigh, long agentLow, long epoch, long first, long last);
  }
}
