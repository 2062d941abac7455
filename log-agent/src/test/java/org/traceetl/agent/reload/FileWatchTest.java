package org.traceetl.agent.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.RoutingFile;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.Clocks;

final class FileWatchTest {
  private final ReloadMetrics metrics = new ReloadMetrics();
  private final List<Integer> told = new CopyOnWriteArrayList<>();

  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = directory.resolve("rules.yaml");
    queues("3");
  }

  @Test
  void aChangeIsAppliedAfterTwoEqualReads() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    queues("4");
    assertThat(watch.reload()).isFalse();
    queues("45");
    assertThat(watch.reload()).isFalse();
    assertThat(told).isEmpty();
    assertThat(watch.reload()).isTrue();
    assertThat(watch.reload()).isFalse();

    assertThat(watch.first().standard().queues()).isEqualTo(3);
    assertThat(told).containsExactly(45);
  }

  @Test
  void aRequestedReadAppliesAChangeAtOnce() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    queues("4");

    assertThat(watch.reload(true)).isTrue();
    assertThat(told).containsExactly(4);
  }

  @Test
  void anInvalidFileIsRefusedUntilItIsCorrected() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    queues("none");
    assertThat(watch.reload()).isFalse();
    for (int i = 0; i < 3; i++) {
      assertRefused(watch, "line 1: queues-per-application = none: must be a whole number");
    }
    assertThat(told).isEmpty();

    queues("5");
    // After one look, the old content is still in force.
    assertRefused(watch, "none");
    assertThat(watch.reload()).isTrue();
    assertThat(watch.isRefused()).isFalse();
    assertThat(told).containsExactly(5);
  }

  @Test
  void contentThatFailsToApplyIsRefusedUntilItChanges() throws IOException {
    FileWatch<RoutingRules> watch =
        watch(rules -> {
          if (rules.standard().queues() == 4) {
            throw new IllegalStateException("no");
          }
          told.add(rules.standard().queues());
        });
    queues("4");
    assertThat(watch.reload()).isFalse();
    for (int i = 0; i < 3; i++) {
      assertRefused(
          watch, "rules.file = " + file + ": cannot be taken: java.lang.IllegalStateException: no");
    }
    queues("5");

    assertThat(watch.reload(true)).isTrue();
    assertThat(watch.isRefused()).isFalse();
    assertThat(told).containsExactly(5);
  }

  @Test
  void aFileThatDisappearsAndReturnsChangesNothing() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    Files.delete(file);
    assertRefused(watch, "rules.file = " + file + ": cannot be read: ");
    assertRefused(watch, "NoSuchFile");
    queues("3");
    assertRefused(watch, "NoSuchFile");

    assertThat(watch.reload()).isFalse();
    assertThat(watch.isRefused()).isFalse();
    assertThat(told).isEmpty();
  }

  @Test
  void anInvalidFileThatReturnsIsStillRefused() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    queues("none");
    assertThatThrownBy(() -> watch.reload(true)).hasMessageContaining("none");
    Files.delete(file);
    assertRefused(watch, "cannot be read");
    queues("none");

    assertThatThrownBy(() -> watch.reload(true)).hasMessageContaining("none");
  }

  @Test
  void theFirstContentIsAppliedAgainAfterAnInvalidOne() throws IOException {
    FileWatch<RoutingRules> watch = watch();
    queues("none");
    assertThatThrownBy(() -> watch.reload(true)).hasMessageContaining("none");
    queues("3");

    assertThat(watch.reload(true)).isTrue();
    assertThat(told).containsExactly(3);
  }

  @Test
  void aSwappedConfigMapIsApplied() throws IOException {
    // The file is a link to ..data/rules.yaml, and ..data is swapped, as by the kubelet.
    Path one = Files.createDirectory(directory.resolve("..1"));
    Path two = Files.createDirectory(directory.resolve("..2"));
    Files.writeString(one.resolve("rules.yaml"), "queues-per-application: 6\n");
    Files.writeString(two.resolve("rules.yaml"), "queues-per-application: 7\n");
    Path data = Files.createSymbolicLink(directory.resolve("..data"), Path.of("..1"));
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("..data", "rules.yaml"));
    try (Reloader reloader = new Reloader(metrics, Clocks.SYSTEM)) {
      FileWatch<RoutingRules> watch = watch();
      assertThat(watch.first().standard().queues()).isEqualTo(6);
      reloader.add("rules", 10, watch);
      reloader.start();

      Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of("..2"));
      Files.move(next, data, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);

      await().until(() -> told.contains(7));
      await().until(() -> metrics.reloads.labels("rules", "applied").get() == 1);
    }
  }

  @Test
  void aRequestIsHandledBeforeTheInterval() throws IOException {
    try (Reloader reloader = new Reloader(metrics, Clocks.SYSTEM)) {
      reloader.add("rules", 600_000, watch());
      reloader.start();
      queues("9");
      reloader.request();

      await().until(() -> told.contains(9));
    }
  }

  @Test
  void anInvalidFileIsCountedOnce() throws IOException {
    Reloader reloader = new Reloader(metrics, Clocks.SYSTEM);
    reloader.add("rules", 600_000, watch());
    queues("none");
    for (int i = 0; i < 3; i++) {
      reloader.look();
    }

    assertThat(metrics.reloads.labels("rules", "refused").get()).isEqualTo(1);
  }

  @Test
  void anInvalidFileAtTheStartIsReportedWithAllProblems() throws IOException {
    Files.writeString(file, "spread: wide\nx: 1\n");

    assertThatThrownBy(this::watch)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("rules.file = " + file + ": line 1: spread = wide: must be series")
        .hasMessageContaining("; line 2: x: no such key");
  }

  private static void assertRefused(FileWatch<?> watch, String why) {
    assertThatThrownBy(watch::reload).isInstanceOf(IOException.class).hasMessageContaining(why);
    assertThat(watch.isRefused()).isTrue();
  }

  private void queues(String queues) throws IOException {
    Files.writeString(file, "queues-per-application: " + queues + "\n");
  }

  private FileWatch<RoutingRules> watch() throws IOException {
    return watch(rules -> told.add(rules.standard().queues()));
  }

  private FileWatch<RoutingRules> watch(Consumer<RoutingRules> listener) throws IOException {
    return new FileWatch<>(
        "rules.file",
        new WatchedFile(file, 600_000),
        Disk.SYSTEM,
        content -> RoutingFile.parse(content, RoutingRules.defaults()),
        listener);
  }
}
