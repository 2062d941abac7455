package org.traceetl.perf.systest.chaos;

import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import org.testcontainers.containers.GenericContainer;

/**
 * A program of this project in a container, which can be stopped and restarted on its ports and
 * data. For one thread.
 */
final class ContainerProgram {
  private static final Duration READY_LIMIT = Duration.ofMinutes(4);
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final String name;
  private final GenericContainer<?> container;
  private final URI uri;
  private final String readyPath;
  private final HttpClient http;

  /**
   * @param uri the address of its metrics
   * @param readyPath answers 200 when it is ready
   */
  ContainerProgram(
      String name, GenericContainer<?> container, URI uri, String readyPath, HttpClient http) {
    this.name = name;
    this.container = container;
    this.uri = uri;
    this.readyPath = readyPath;
    this.http = http;
  }

  String name() {
    return name;
  }

  GenericContainer<?> container() {
    return container;
  }

  String imageId() {
    return docker().inspectContainerCmd(container.getContainerId()).exec().getImageId();
  }

  boolean isRunning() {
    return Boolean.TRUE.equals(state().getRunning());
  }

  private ContainerState state() {
    return docker().inspectContainerCmd(container.getContainerId()).exec().getState();
  }

  private DockerClient docker() {
    return container.getDockerClient();
  }

  /** Waits until it is ready, and returns the time since its start. */
  Duration awaitReady() {
    await(name + " is ready")
        .atMost(READY_LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK)
        .until(() -> isRunning() && get(readyPath) != null);
    return Duration.between(Instant.parse(state().getStartedAt()), Instant.now());
  }

  /** Returns its metrics page; empty if it does not answer. */
  String page() throws InterruptedException {
    String page = get("/metrics");
    return page == null ? "" : page;
  }

  /** Returns the body of an answer 200, else null. */
  private String get(String path) throws InterruptedException {
    try {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(uri.resolve(path)).timeout(PATIENCE).build(),
              HttpResponse.BodyHandlers.ofString());
      return response.statusCode() == 200 ? response.body() : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Runs a command in the container, and returns its output. */
  String run(String... command) throws IOException, InterruptedException {
    return container.execInContainer(command).getStdout();
  }

  /** Kills it as {@code docker kill} does. */
  void kill() {
    docker().killContainerCmd(container.getContainerId()).exec();
    await(name + " has ended").atMost(PATIENCE.multipliedBy(5)).until(() -> !isRunning());
  }

  /**
   * Stops it by SIGTERM.
   *
   * @param grace the time after which Docker kills it
   * @return its exit code
   */
  long stop(Duration grace) {
    docker()
        .stopContainerCmd(container.getContainerId())
        .withTimeout((int) grace.toSeconds())
        .exec();
    return state().getExitCodeLong();
  }

  void startAgain() {
    docker().startContainerCmd(container.getContainerId()).exec();
  }
}
