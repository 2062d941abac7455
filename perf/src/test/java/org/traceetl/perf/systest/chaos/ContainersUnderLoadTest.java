package org.traceetl.perf.systest.chaos;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Adds and kills nodes, and cuts networks, of an installation in containers under load. Each test
 * leaves it working, and also compares the counts of all tests before it. {@code bin/load} runs it.
 */
@Tag("load")
final class ContainersUnderLoadTest extends ContainersFixture {
  private static final int SPANS = 4_000;
  private static final String OWNED = "trace_etl_queue_lag_messages{";

  /** The time until the broker has dropped a client, and others own its queues. */
  private static final Duration CUT_LIMIT = ChaosInstallation.SESSION.multipliedBy(3);

  @Override
  protected void addPrograms() throws IOException {
    addTwoOfEach(Containers.TAG);
  }

  /** Returns the number of queues that a server reports. */
  private static long queuesOf(ContainerProgram server) throws InterruptedException {
    return server.page().lines().filter(line -> line.startsWith(OWNED)).count();
  }

  private static void awaitQueues(ContainerProgram server) {
    await(server.name() + " has queues").atMost(CUT_LIMIT).until(() -> queuesOf(server) > 0);
  }

  @Test
  void steadyLoadIsCountedExactly() throws IOException, InterruptedException {
    books.exactAfter("steady load", () -> books.awaitSpans(2 * SPANS));
  }

  @Test
  void addedServerTakesOverQueues() throws IOException, InterruptedException {
    books.exactAfter(
        "a server is added",
        () -> {
          books.awaitSpans(SPANS);
          ContainerProgram added = containers.addServer(Containers.TAG);
          added.awaitReady();
          awaitQueues(added);
          books.awaitSpans(SPANS);
        });
  }

  @Test
  void killedServerLosesNothing() throws IOException, InterruptedException {
    books.exactAfter(
        "a server is killed",
        () -> {
          books.awaitSpans(SPANS);
          ContainerProgram server = containers.servers().getFirst();
          awaitQueues(server);
          server.kill();
          books.awaitSpans(SPANS);
          server.startAgain();
          server.awaitReady();
        });
  }

  @Test
  void killedAgentLosesNothing() throws IOException, InterruptedException {
    books.exactAfter(
        "an agent is killed",
        () -> {
          books.awaitSpans(SPANS);
          ContainerProgram agent = containers.agents().getFirst();
          agent.kill();
          books.awaitSpans(SPANS / 4);
          agent.startAgain();
          agent.awaitReady();
          books.awaitSpans(SPANS);
        });
  }

  @Test
  void cutBetweenServerAndBrokerLosesNothing() throws IOException, InterruptedException {
    books.exactAfter(
        "the network between a server and the broker is cut",
        () -> {
          books.awaitSpans(SPANS);
          ContainerProgram server = containers.servers().getFirst();
          awaitQueues(server);
          containers.cut(server);
          await("another server has its queues")
              .atMost(CUT_LIMIT)
              .until(() -> queuesOfOthersThan(server) == ChaosInstallation.QUEUES);
          containers.mend(server);
          await("it has queues again")
              .atMost(CUT_LIMIT)
              .until(() -> queuesOfOthersThan(server) < ChaosInstallation.QUEUES);
          books.awaitSpans(SPANS);
        });
  }

  private long queuesOfOthersThan(ContainerProgram server) throws InterruptedException {
    long queues = 0;
    for (ContainerProgram other : containers.servers()) {
      if (other != server && other.isRunning()) {
        queues += queuesOf(other);
      }
    }
    return queues;
  }
}
