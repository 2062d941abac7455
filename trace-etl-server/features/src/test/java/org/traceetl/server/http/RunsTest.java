package org.traceetl.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.traceetl.common.Threads;

@Timeout(60)
class RunsTest {
  private final Runs<String> runs = new Runs<>(Threads.SYSTEM, "test");

  @Test
  void callersOfAnotherPlaceWaitAndThoseOfTheSamePlaceDoNot() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    assertThat(runs.tryBegin("shop", () -> true)).isTrue();
    CompletableFuture<Boolean> bank = new CompletableFuture<>();
    CountDownLatch waits = new CountDownLatch(1);
    Thread waiting =
        Thread.ofPlatform()
            .start(() -> {
              try {
                bank.complete(
                    runs.tryBegin(
                        "bank",
                        () -> {
                          waits.countDown();
                          return true;
                        }));
              } catch (InterruptedException e) {
                bank.completeExceptionally(e);
              }
            });
    waits.await();

    assertThat(runs.tryBegin("shop", () -> true)).isFalse();
    assertThat(runs.tryBegin("bank", () -> true)).isFalse();
    assertThat(bank).isNotDone();

    end.countDown();
    assertThat(
            runs.run(
                () -> {
                  end.await();
                  return "answer";
                },
                () -> true))
        .isEqualTo("answer");
    assertThat(bank.get()).isTrue();
    waiting.join();

    runs.giveUp();
    assertThat(runs.tryBegin("shop", () -> true)).isTrue();
  }

  @Test
  void callersHaveTheirTurnsInTheOrderOfTheirArrival() throws Exception {
    assertThat(runs.tryBegin(0, () -> true)).isTrue();
    List<Integer> turns = new CopyOnWriteArrayList<>();
    List<Thread> callers = new ArrayList<>();
    for (int i = 1; i <= 8; i++) {
      int place = i;
      CountDownLatch waits = new CountDownLatch(1);
      callers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  runs.tryBegin(
                      place,
                      () -> {
                        waits.countDown();
                        return true;
                      });
                  turns.add(place);
                  runs.giveUp();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              }));
      waits.await();
    }

    runs.giveUp();
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(turns).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(runs.tryBegin()).isTrue();
    assertThat(runs.tryBegin()).isFalse();
  }

  @Test
  void aCallerThatIsGoneLeavesItsPlace() throws Exception {
    assertThat(runs.tryBegin("shop", () -> true)).isTrue();
    AtomicBoolean isWaiting = new AtomicBoolean();

    assertThat(runs.tryBegin("bank", isWaiting::get)).isFalse();
    runs.giveUp();

    assertThat(runs.tryBegin("bank", () -> true)).isTrue();
  }

  @Test
  void placesAreBounded() throws Exception {
    assertThat(runs.tryBegin(0, () -> true)).isTrue();
    CountDownLatch all = new CountDownLatch(15);
    AtomicBoolean isWaiting = new AtomicBoolean(true);
    for (int i = 1; i < 16; i++) {
      int place = i;
      Thread.ofVirtual()
          .start(() -> {
            try {
              runs.tryBegin(
                  place,
                  () -> {
                    all.countDown();
                    return isWaiting.get();
                  });
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          });
    }
    all.await();

    assertThat(runs.tryBegin(16, () -> true)).isFalse();
    isWaiting.set(false);
  }
}
