package org.traceetl.perf.systest.chaos;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * An installation in containers under load, to which nodes come and from which nodes and networks
 * go. Each test leaves it working, and holds the counts of all tests before it as well. By {@code
 * bin/load}.
 */
@Tag("load")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ContainersUnderLoadTest {
  private static final int SPANS = 4_000;
  private static final String OWNED = "trace_etl_queue_lag_messages{";

  /** Clients are gone for the broker by then, and the queues are with others. */
  private static final Duration CUT_LIMIT = ChaosInstallation.SESSION.multipliedBy(3);

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private Containers containers;
  private ContainerBooks books;

  @BeforeAll
  void start() throws IOException, InterruptedException {
    containers = new Containers(ContainersImagesTest.newDirectory(), http);
    books = new ContainerBooks(containers, http);
    containers.start();
    containers.addServer(Containers.TAG);
    containers.addServer(Containers.TAG);
    containers.addAgent(Containers.TAG);
    containers.addAgent(Containers.TAG);
    containers.servers().forEach(ContainerProgram::awaitReady);
    containers.agents().forEach(ContainerProgram::awaitReady);
  }

  @AfterAll
  void close() {
    containers.close();
  }

  /** How many queues a server says that it has. */
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
  void serverThatIsAddedTakesQueuesOver() throws IOException, InterruptedException {
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
