package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import org.traceetl.server.journal.JournalLog;

/**
 * How far servers are behind: a queue lags if it has messages of some age that the servers' group
 * has not committed. Without a member of the group nothing lags. For one thread at a time.
 */
final class LiveLag implements PacedReader.Lag {
  private static final Duration MORE = Duration.ofSeconds(30);

  /** Lists the members of the servers' group. */
  @FunctionalInterface
  interface Members {
    Set<String> list() throws IOException, InterruptedException;
  }

  private final List<JournalLog> queues;
  private final String group;
  private final Members members;
  private final long ageMillis;
  private final InstantSource wall;

  /**
   * @param queues of the spans
   * @param group of the servers
   * @param window length of the servers' windows: they commit after each of them
   */
  LiveLag(
      List<? extends JournalLog> queues,
      String group,
      Members members,
      Duration window,
      InstantSource wall) {
    this.queues = List.copyOf(queues);
    this.group = group;
    this.members = members;
    ageMillis = window.multipliedBy(2).plus(MORE).toMillis();
    this.wall = wall;
  }

  @Override
  public long messages() throws IOException, InterruptedException {
    long late = 0;
    for (JournalLog queue : queues) {
      long committed = queue.mark(group);
      if (committed != JournalLog.NONE) {
        late += Math.max(0, queue.offsetAt(wall.millis() - ageMillis) - committed);
      }
    }
    return late == 0 || members.list().isEmpty() ? 0 : late;
  }
}
