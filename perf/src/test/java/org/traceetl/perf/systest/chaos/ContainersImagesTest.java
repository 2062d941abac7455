package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The images of this project, run as the Helm chart runs them. By {@code bin/images check}. */
@Tag("images")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ContainersImagesTest {
  private static final int SPANS = 6_000;

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private Containers containers;
  private ContainerBooks books;

  @BeforeAll
  void start() throws IOException, InterruptedException {
    containers = new Containers(newDirectory(), http);
    books = new ContainerBooks(containers, http);
    containers.start();
    tell(
        "server ready %d ms after its start",
        containers.addServer(Containers.TAG).awaitReady().toMillis());
    tell(
        "log-agent works %d ms after its start",
        containers.addAgent(Containers.TAG).awaitReady().toMillis());
  }

  /** Below the build's, which Docker can mount; other users read it. */
  static Path newDirectory() throws IOException {
    Path parent = Files.createDirectories(Path.of("target", "containers").toAbsolutePath());
    Path directory = Files.createTempDirectory(parent, "run-");
    assertThat(directory.toFile().setExecutable(true, false)).isTrue();
    assertThat(directory.toFile().setReadable(true, false)).isTrue();
    return directory;
  }

  /** For {@code bin/images} and {@code bin/load}, which show these lines alone. */
  static void tell(String format, Object... arguments) {
    System.out.println("containers: " + String.format(format, arguments));
  }

  @AfterAll
  void close() {
    containers.close();
  }

  private Stream<ContainerProgram> programs() {
    return Stream.concat(containers.agents().stream(), containers.servers().stream());
  }

  @Test
  void programsHaveNoRightsAndNowhereToWrite() throws IOException, InterruptedException {
    for (ContainerProgram program : programs().toList()) {
      String status = program.run("cat", "/proc/1/status");

      assertThat(status)
          .containsPattern("Name:\\s+java\n")
          .containsPattern("Uid:\\s+10001\\s+10001\\s+10001\\s+10001\n")
          .containsPattern("Gid:\\s+10001\\s+10001\\s+10001\\s+10001\n")
          .containsPattern("CapEff:\\s+0+\n")
          .containsPattern("CapBnd:\\s+0+\n")
          .containsPattern("NoNewPrivs:\\s+1\n")
          .containsPattern("Seccomp:\\s+2\n");
      assertThat(program.run("bash", "-c", "touch /opt/trace-etl/x || echo refused"))
          .isEqualTo("refused\n");
    }
  }

  @Test
  void spansAreCountedExactlyWhenProgramsAreStopped() throws IOException, InterruptedException {
    ContainerProgram agent = containers.agents().getFirst();
    ContainerProgram server = containers.servers().getFirst();
    books.sendDuring(() -> {
      books.awaitSpans(SPANS);
      for (ContainerProgram program : List.of(agent, server)) {
        String memory = program.run("bash", "-c", "grep VmHWM /proc/1/status | tr -s '\\t ' ' '");
        long begunNanos = System.nanoTime();
        long exitCode = program.stop(Containers.GRACE);
        tell(
            "%s stopped under load within %d ms, exit code %d; %s",
            program.name(), (System.nanoTime() - begunNanos) / 1_000_000, exitCode, memory.strip());
        assertThat(exitCode).isIn(0L, 143L);
        program.startAgain();
        program.awaitReady();
        books.awaitSpans(SPANS / 4);
      }
    });

    books.assertExact();
    tell("%s", books.line());
  }

  /** Also where /tmp must not execute. */
  @Test
  void agentHasTheTransportOfLinux() throws IOException, InterruptedException {
    assertThat(containers.agents().getFirst().run("cat", "/proc/1/maps"))
        .contains("/opt/trace-etl/native/");
  }

  /**
   * Each library in the image is in the bill of materials, and the other way round. Spring Boot's
   * starters are lists of libraries and no library: what packs the program leaves them out.
   */
  @Test
  void billOfMaterialsIsWhatIsThere() throws IOException, InterruptedException {
    for (ContainerProgram program : programs().toList()) {
      JsonNode bill = new JsonMapper().readTree(program.run("cat", "/opt/trace-etl/sbom.cdx.json"));
      Set<String> said = new TreeSet<>();
      for (JsonNode component : bill.path("components")) {
        if (component.path("name").asString().startsWith("spring-boot-starter")) {
          continue;
        }
        for (JsonNode hash : component.path("hashes")) {
          if (hash.path("alg").asString().equals("SHA-256")) {
            said.add(hash.path("content").asString());
          }
        }
      }
      Set<String> there =
          new TreeSet<>(
              program
                  .run("bash", "-c", "sha256sum /opt/trace-etl/lib/*.jar | cut -d ' ' -f 1")
                  .lines()
                  .toList());

      assertThat(bill.path("bomFormat").asString()).isEqualTo("CycloneDX");
      assertThat(there).isNotEmpty().isEqualTo(said);
      tell("%s has %d libraries, all in its bill of materials", program.name(), there.size());
    }
  }
}
