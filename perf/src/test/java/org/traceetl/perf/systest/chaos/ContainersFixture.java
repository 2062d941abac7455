package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Starts an installation in containers for all tests of a class. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ContainersFixture {
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  protected Containers containers;
  protected ContainerBooks books;

  @BeforeAll
  final void start() throws IOException, InterruptedException {
    containers = new Containers(newDirectory(), http);
    books = new ContainerBooks(containers, http);
    containers.start();
    addPrograms();
  }

  /** Adds agents and servers, and waits until they are ready. */
  protected abstract void addPrograms() throws IOException;

  /** Adds two servers and two agents of these images. */
  protected final void addTwoOfEach(String tag) throws IOException {
    containers.addServer(tag);
    containers.addServer(tag);
    containers.addAgent(tag);
    containers.addAgent(tag);
    containers.servers().forEach(ContainerProgram::awaitReady);
    containers.agents().forEach(ContainerProgram::awaitReady);
  }

  @AfterAll
  final void close() {
    containers.close();
  }

  /** Creates a directory in that of the build, which Docker can mount and all users can read. */
  private static Path newDirectory() throws IOException {
    Path parent = Files.createDirectories(Path.of("target", "containers").toAbsolutePath());
    Path directory = Files.createTempDirectory(parent, "run-");
    assertThat(directory.toFile().setExecutable(true, false)).isTrue();
    assertThat(directory.toFile().setReadable(true, false)).isTrue();
    return directory;
  }

  /** Prints a line that {@code bin/images} and {@code bin/load} show. */
  static void tell(String format, Object... arguments) {
    System.out.println("containers: " + String.format(format, arguments));
  }
}
