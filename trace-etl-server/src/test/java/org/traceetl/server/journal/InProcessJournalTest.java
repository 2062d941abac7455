package org.traceetl.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

class InProcessJournalTest {
  private static final SealedWindow WINDOW =
      new SealedWindow(
          new QueueId("broker-a", 0),
          0,
          1,
          0,
          15_000,
          List.of(),
          new int[0],
          0,
          1,
          new int[0],
          new long[0],
          new long[0],
          new int[0],
          new int[0],
          List.of(),
          List.of(),
          0,
          new long[0],
          AcceptedBatches.NONE);

  private final Follower first = new Follower();
  private final Follower second = new Follower();
  private final Follower third = new Follower();
  private final Journal journal = new InProcessJournal(List.of(first, second, third));

  @Test
  void windowReachesEveryFollower() {
    assertThat(journal.append(WINDOW).toCompletableFuture()).isCompleted();

    assertThat(List.of(first.windows, second.windows, third.windows)).containsOnly(List.of(WINDOW));
  }

  @Test
  void windowThatTheFirstRefusesIsKeptByNobodyUntilAppendedAgain() {
    first.broken = true;
    assertThat(journal.append(WINDOW).toCompletableFuture()).isCompletedExceptionally();
    assertThat(second.windows).isEmpty();

    first.broken = false;
    assertThat(journal.append(WINDOW).toCompletableFuture()).isCompleted();
    assertThat(second.windows).containsExactly(WINDOW);
  }

  @Test
  void anyOtherThatFailsLosesItsWindowAlone() {
    second.broken = true;

    assertThat(journal.append(WINDOW).toCompletableFuture()).isCompleted();

    assertThat(first.windows).containsExactly(WINDOW);
    assertThat(third.windows).containsExactly(WINDOW);
  }

  /** Remembers windows, or refuses them. */
  private static final class Follower implements WindowFollower {
    private final List<SealedWindow> windows = new ArrayList<>();
    private boolean broken;

    @Override
    public void window(SealedWindow window) {
      if (broken) {
        throw new IllegalStateException("broken");
      }
      windows.add(window);
    }

    @Override
    public void released(QueueId queue) {
      windows.clear();
    }
  }
}
