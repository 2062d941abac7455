package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Upgrades an installation in containers from one build to another and back under load, one program
 * after another. Servers are added before old ones stop, as in the chart's Deployment; agents are
 * replaced in their places. {@code bin/load --from} runs it.
 */
@Tag("upgrade")
final class ContainersUpgradeTest extends ContainersFixture {
  private static final int SPANS = 2_000;
  private static final String FROM = System.getProperty("traceetl.image-tag-before", "");

  @Override
  protected void addPrograms() throws IOException {
    addTwoOfEach(FROM);
  }

  @Test
  void upgradeAndDowngradeCountExactly() throws IOException, InterruptedException {
    String before = images();
    books.exactAfter(
        "servers, then agents from " + FROM + " to " + Containers.TAG,
        () -> {
          books.awaitSpans(SPANS);
          rollServers(Containers.TAG);
          rollAgents(Containers.TAG);
        });
    // Fails if both tags name the same image.
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
