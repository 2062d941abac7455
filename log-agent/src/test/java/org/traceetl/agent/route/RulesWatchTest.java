package org.traceetl.agent.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.RoutingFile;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.telemetry.AgentMetrics;

final class RulesWatchTest {
  private final AgentMetrics metrics = new AgentMetrics();
  private final List<RoutingRules> told = Collections.synchronizedList(new ArrayList<>());

  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("routing.yaml"), "queues-per-application: 3\n");
  }

  @Test
  void aChangeCountsOnceItIsSeenTwice() throws IOException {
    RulesWatch watch = watch(60_000);
    Files.writeString(file, "queues-per-application: 4\n");
    watch.look(false);
    assertThat(told).isEmpty();
    Files.writeString(file, "queues-per-application: 45\n");
    watch.look(false);
    assertThat(told).isEmpty();
    watch.look(false);
    watch.look(false);

    assertThat(told).hasSize(1);
    assertThat(watch.rules().standard().queues()).isEqualTo(45);
    assertThat(reloads("applied")).isEqualTo(1);
  }

  @Test
  void aWrongFileIsCountedOnceAndTheRulesBeforeItStay() throws IOException {
    RulesWatch watch = watch(60_000);
    Files.writeString(file, "queues-per-application: none\n");
    for (int i = 0; i < 5; i++) {
      watch.look(false);
    }

    assertThat(told).isEmpty();
    assertThat(watch.rules().standard().queues()).isEqualTo(3);
    assertThat(reloads("refused")).isEqualTo(1);
    assertThat(gauge("routing_file_refused")).isEqualTo(1);

    Files.writeString(file, "queues-per-application: 5\n");
    watch.look(true);
    assertThat(watch.rules().standard().queues()).isEqualTo(5);
    assertThat(gauge("routing_file_refused")).isZero();
    assertThat(gauge("routing_rules_fingerprint")).isEqualTo((double) watch.rules().fingerprint());
  }

  @Test
  void aFileThatGoesAndComesBackLeavesTheRules() throws IOException {
    RulesWatch watch = watch(60_000);
    Files.delete(file);
    watch.look(false);
    watch.look(false);
    assertThat(reloads("refused")).isEqualTo(1);
    assertThat(watch.rules().standard().queues()).isEqualTo(3);

    Files.writeString(file, "queues-per-application: 3\n");
    watch.look(false);
    watch.look(false);
    assertThat(gauge("routing_file_refused")).isZero();
  }

  @Test
  void aMountedConfigMapIsFollowed() throws IOException {
    // As kubelet does: the file is a link to ..data/routing.yaml, and ..data is swapped.
    Path one = Files.createDirectory(directory.resolve("..1"));
    Path two = Files.createDirectory(directory.resolve("..2"));
    Files.writeString(one.resolve("routing.yaml"), "queues-per-application: 6\n");
    Files.writeString(two.resolve("routing.yaml"), "queues-per-application: 7\n");
    Path data = Files.createSymbolicLink(directory.resolve("..data"), Path.of("..1"));
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("..data", "routing.yaml"));
    try (RulesWatch watch = watch(10)) {
      watch.start();
      assertThat(watch.rules().standard().queues()).isEqualTo(6);

      Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of("..2"));
      Files.move(next, data, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);

      await().until(() -> watch.rules().standard().queues() == 7);
      assertThat(told).containsExactly(watch.rules());
    }
  }

  @Test
  void aRequestIsFollowedLongBeforeTheNextLook() throws IOException {
    try (RulesWatch watch = watch(600_000)) {
      watch.start();
      Files.writeString(file, "queues-per-application: 9\n");
      watch.request();

      await().until(() -> watch.rules().standard().queues() == 9);
    }
  }

  @Test
  void aWrongFileAtTheStartIsToldInFull() throws IOException {
    Files.writeString(file, "spread: wide\nx: 1\n");

    assertThatThrownBy(() -> watch(10))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("routing.file = " + file + ": line 1: spread = wide: not series")
        .hasMessageContaining("; line 2: x: no such key");
  }

  private RulesWatch watch(int pollMillis) throws IOException {
    RoutingConfig config =
        new RoutingConfig(
            RoutingRules.defaults(),
            Optional.of(new RoutingFile(file)),
            pollMillis,
            true,
            true,
            "trace-routing");
    return new RulesWatch(config, metrics, told::add);
  }

  private double reloads(String outcome) {
    return metrics.routingReloads.labels(outcome).get();
  }

  private double gauge(String name) {
    return metrics.registry.getSampleValue("trace_etl_agent_" + name);
  }
}
