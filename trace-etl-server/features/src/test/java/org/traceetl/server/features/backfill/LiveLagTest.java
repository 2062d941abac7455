package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.JournalLog;

/** How far servers are behind. */
class LiveLagTest {
  private static final long NOW_SECONDS = 1_795_946_400;

  private Set<String> members = Set.of("server");

  /** A queue with a message a second, of which the group has committed all but some. */
  private record Queue(long uncommitted) implements JournalLog {
    @Override
    public long offsetAt(long unixMillis) {
      return unixMillis / 1_000;
    }

    @Override
    public long mark(String group) {
      return uncommitted < 0 ? NONE : NOW_SECONDS - uncommitted;
    }

    @Override
    public void mark(String group, long offset) {
      throw new UnsupportedOperationException("only read");
    }

    @Override
    public long append(byte[] message) {
      throw new UnsupportedOperationException("only read");
    }

    @Override
    public List<Entry> read(long from) {
      throw new UnsupportedOperationException("only its offsets");
    }

    @Override
    public long begin() {
      return 0;
    }

    @Override
    public long end() {
      return NOW_SECONDS;
    }
  }

  private long messages(long... uncommitted) throws Exception {
    return new LiveLag(
            Arrays.stream(uncommitted).mapToObj(Queue::new).toList(),
            "servers",
            () -> members,
            Duration.ofSeconds(15),
            InstantSource.fixed(Instant.ofEpochSecond(NOW_SECONDS)))
        .messages();
  }

  @Test
  void messagesOfTwoWindowsAndHalfAMinuteMayBeUncommitted() throws Exception {
    assertThat(messages(0, 60, -1)).isZero();
    assertThat(messages(0, 61, 70, -1)).isEqualTo(11);
  }

  @Test
  void nothingLagsWithoutServers() throws Exception {
    members = Set.of();
    assertThat(messages(1_000)).isZero();
  }
}
