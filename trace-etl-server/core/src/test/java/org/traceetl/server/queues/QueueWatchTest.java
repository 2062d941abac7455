package org.traceetl.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

final class QueueWatchTest {
  private static final QueueId A0 = new QueueId("a", 0);
  private static final QueueId A1 = new QueueId("a", 1);
  private static final QueueId B0 = new QueueId("b", 0);

  private final Map<QueueId, Long> ends = new HashMap<>(Map.of(A0, 5L, A1, 0L, B0, 7L));
  private Collection<String> members = List.of();
  private boolean away;

  private final QueueWatch watch =
      new QueueWatch(
          new QueueWatch.Brokers() {
            @Override
            public Set<QueueId> queues() throws IOException {
              if (away) {
                throw new IOException("no name server");
              }
              return Set.of(A0, A1, B0);
            }

            @Override
            public long end(QueueId queue) throws IOException {
              Long end = ends.get(queue);
              if (end == null) {
                throw new IOException("the broker is away");
              }
              return end;
            }

            @Override
            public Collection<String> members() throws IOException {
              if (members == null) {
                throw new IOException("the broker is away");
              }
              return members;
            }
          },
          Clocks.SYSTEM);

  private static Map<String, String> owners(QueueWatch.Seen seen) {
    Map<String, String> owners = new TreeMap<>();
    seen.owners().forEach((queue, owner) -> owners.put(queue.toString(), owner.target()));
    return owners;
  }

  @Test
  void queuesAreSharedOutAsMembersDo() throws Exception {
    members =
        List.of(
            "10.0.0.2@7-2-0=http://10.0.0.2:80@STREAM", "10.0.0.1@9-1-0=http://10.0.0.1:80@STREAM");
    watch.look();

    assertThat(watch.seen().ends()).isEqualTo(ends);
    assertThat(owners(watch.seen()))
        .isEqualTo(Map.of("a/0", "10.0.0.1:80", "a/1", "10.0.0.1:80", "b/0", "10.0.0.2:80"));
  }

  @Test
  void membersThatAnnounceNothingOwnWhatNobodyIsNamedFor() throws Exception {
    members = List.of("10.0.0.0@other", "10.0.0.1@9-1-0=http://10.0.0.1:80@STREAM");
    watch.look();

    assertThat(owners(watch.seen())).isEqualTo(Map.of("b/0", "10.0.0.1:80"));
  }

  @Test
  void whatCannotBeAskedForIsNotKnown() throws Exception {
    watch.look();
    assertThat(watch.seen().ends()).hasSize(3);
    ends.remove(A0);
    ends.put(B0, JournalLog.NONE);
    members = null;
    watch.look();
    // If a broker is away, its other queues are not requested.
    assertThat(watch.seen()).isEqualTo(new QueueWatch.Seen(Map.of(), Map.of(), Set.of(A0, A1)));
    ends.put(A0, 8L);
    watch.look();
    assertThat(watch.seen().ends()).isEqualTo(Map.of(A0, 8L, A1, 0L));
    away = true;
    watch.look();
    assertThat(watch.seen()).isEqualTo(new QueueWatch.Seen(Map.of(), Map.of(), Set.of(A0, A1)));
  }
}
