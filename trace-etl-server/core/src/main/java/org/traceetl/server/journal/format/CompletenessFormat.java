package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowCompleteness.Agent;

/**
 * The format of until when a window's spans are complete, an extension of {@link WindowFormat}, in
 * the types of {@link RecordWriter}. Its texts are numbered separately from those of the window.
 *
 * <pre>
 *   signed    complete until - opened, milliseconds
 *   signed    stream time - opened, milliseconds
 *   unsigned  named agents n, at most 16, n times:
 *     octet     1: the agent holds the time back; 2: the time does not wait for the agent
 *     fixed     ID, two of them
 *     text      host
 *   unsigned  agents that the time waits for
 * </pre>
 *
 * <p>Readers skip bytes after it.
 */
final class CompletenessFormat {
  /** ID of the extension. */
  static final long ID = 1;

  private static final int HOLDS_BACK = 1;
  private static final int EXCLUDED = 2;

  private CompletenessFormat() {}

  /** Writes what is not empty. */
  static void write(WindowCompleteness completeness, long openedMillis, RecordWriter out) {
    // May overflow; the reader reverses that.
    out.signed(completeness.untilMillis() - openedMillis);
    out.signed(completeness.streamMillis() - openedMillis);
    out.unsigned(completeness.named().size());
    for (Agent agent : completeness.named()) {
      out.octet(agent.isExcluded() ? EXCLUDED : HOLDS_BACK);
      out.fixed(agent.high());
      out.fixed(agent.low());
      out.text(agent.host());
    }
    out.unsigned(completeness.agents());
  }

  static WindowCompleteness read(RecordReader in, long openedMillis)
      throws MalformedRecordException {
    long untilMillis = openedMillis + in.signed();
    long streamMillis = openedMillis + in.signed();
    int size = (int) in.upTo(WindowCompleteness.MAX_NAMED, "named agents");
    List<Agent> named = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      int state = in.octet();
      if (state != HOLDS_BACK && state != EXCLUDED) {
        throw in.malformed("has an agent of state " + state);
      }
      named.add(new Agent(state == EXCLUDED, in.fixed(), in.fixed(), in.text("host")));
    }
    int agents = (int) in.upTo(Integer.MAX_VALUE, "agents that the time waits for");
    return new WindowCompleteness(untilMillis, streamMillis, named, agents);
  }
}
