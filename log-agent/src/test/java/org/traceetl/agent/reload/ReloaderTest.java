package org.traceetl.agent.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.traceetl.common.Clocks;

@Timeout(60)
final class ReloaderTest {
  private final ReloadMetrics metrics = new ReloadMetrics();
  private final Reloader reloader = new Reloader(metrics, Clocks.SYSTEM);

  @Test
  void aFailedSourceDoesNotStopOthersAndIsCounted() {
    reloader.add(
        "wrong",
        () -> {
          throw new IOException("no such file");
        });
    reloader.add(
        "broken",
        () -> {
          throw new IllegalStateException("a fault of ours");
        });
    reloader.add("same", () -> false);
    reloader.add("other", () -> true);

    reloader.look();

    assertThat(count("wrong", "refused")).isOne();
    assertThat(count("broken", "refused")).isOne();
    assertThat(count("same", "applied") + count("same", "refused")).isZero();
    assertThat(count("other", "applied")).isOne();
  }

  @Test
  void aProblemIsCountedOnceAndRetried() {
    AtomicInteger looks = new AtomicInteger();
    reloader.add(
        "file",
        () -> {
          switch (looks.incrementAndGet()) {
            case 1, 2 -> throw new IOException("half a change");
            case 3 -> throw new IOException("another");
            default -> {
              return true;
            }
          }
        });

    for (int i = 0; i < 4; i++) {
      reloader.look();
    }

    assertThat(looks).hasValue(4);
    assertThat(count("file", "refused")).isEqualTo(2);
    assertThat(count("file", "applied")).isOne();
  }

  @Test
  void aRequestReadsAllSources() {
    reloader.add("file", () -> true);
    reloader.start();

    reloader.request();

    await().until(() -> count("file", "applied") > 0);
    reloader.close();
    reloader.close();
  }

  @Test
  void sourcesMayBeAddedAfterTheStart() {
    reloader.start();
    reloader.add("late", () -> true);
    reloader.request();
    await().until(() -> count("late", "applied") > 0);
    reloader.close();
  }

  @Test
  void aReloaderWithoutSourcesStartsNoThread() {
    reloader.start();
    reloader.request();
    reloader.close();
    reloader.add("late", () -> true);
    assertThat(count("late", "applied")).isZero();
  }

  private double count(String what, String outcome) {
    return metrics.reloads.labels(what, outcome).get();
  }
}
