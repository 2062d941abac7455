package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.perf.systest.chaos.ContainersImagesTest.tell;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * An installation in containers that is brought from one build to another and back under load, one
 * program after another: servers with one more meanwhile, as the chart's Deployment does, agents in
 * their places. By {@code bin/load --from}.
 */
@Tag("upgrade")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ContainersUpgradeTest {
  private static final int SPANS = 2_000;
  private static final String FROM = System.getProperty("traceetl.image-tag-before", "");

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private Containers containers;
  private ContainerBooks books;

  @BeforeAll
  void start() throws IOException, InterruptedException {
    containers = new Containers(ContainersImagesTest.newDirectory(), http);
    books = new ContainerBooks(containers, http);
    containers.start();
    containers.addServer(FROM);
    containers.addServer(FROM);
    containers.addAgent(FROM);
    containers.addAgent(FROM);
    containers.servers().forEach(ContainerProgram::awaitReady);
    containers.agents().forEach(ContainerProgram::awaitReady);
  }

  @AfterAll
  void close() {
    containers.close();
  }

  @Test
  void otherBuildTakesOverAndGivesBackExactly() throws IOException, InterruptedException {
    String before = images();
    books.exactAfter(
        "servers, then agents from " + FROM + " to " + Containers.TAG,
        () -> {
          books.awaitSpans(SPANS);
          rollServers(Containers.TAG);
          rollAgents(Containers.TAG);
        });
    // Of the same image it would be no upgrade.
    assertThat(images()).isNotEqualTo(before);
    books.exactAfter(
        "agents, then servers back to " + FROM,
        () -> {
          rollAgents(FROM);
          rollServers(FROM);
        });
    assertThat(images()).isEqualTo(before);
  }

  private String images() {
    return containers.servers().getFirst().imageId() + containers.agents().getFirst().imageId();
  }

  private void rollServers(String tag) throws IOException, InterruptedException {
    for (ContainerProgram old : List.copyOf(containers.servers())) {
      ContainerProgram added = containers.addServer(tag);
      added.awaitReady();
      containers.removeServer(old);
      books.awaitSpans(SPANS);
      tell("%s, of %s, in place of %s", added.name(), tag, old.name());
    }
  }

  private void rollAgents(String tag) throws IOException, InterruptedException {
    for (int i = 0; i < containers.agents().size(); i++) {
      containers.replaceAgent(i, tag);
      containers.agents().get(i).awaitReady();
      books.awaitSpans(SPANS);
      tell("%s is of %s", containers.agents().get(i).name(), tag);
    }
  }
}
