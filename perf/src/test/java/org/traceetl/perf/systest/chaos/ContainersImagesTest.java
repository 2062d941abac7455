package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests the images of this project, which run as the Helm chart runs them. {@code bin/images check}
 * runs it.
 */
@Tag("images")
final class ContainersImagesTest extends ContainersFixture {
  private static final int SPANS = 6_000;

  @Override
  protected void addPrograms() throws IOException {
    tell(
        "server ready %d ms after its start",
        containers.addServer(Containers.TAG).awaitReady().toMillis());
    tell(
        "log-agent works %d ms after its start",
        containers.addAgent(Containers.TAG).awaitReady().toMillis());
  }

  private Stream<ContainerProgram> programs() {
    return Stream.concat(containers.agents().stream(), containers.servers().stream());
  }

  @Test
  void programsHaveNoRightsAndCannotWriteToTheirImage() throws IOException, InterruptedException {
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
  void spansCountExactlyAlthoughProgramsAreStopped() throws IOException, InterruptedException {
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

  /** The library is loaded although /tmp is mounted without the right to execute. */
  @Test
  void agentLoadsTheNativeTransportOfLinux() throws IOException, InterruptedException {
    assertThat(containers.agents().getFirst().run("cat", "/proc/1/maps"))
        .contains("/opt/trace-etl/native/");
  }

  /**
   * Tests that the image and the bill of materials have the same libraries. Spring Boot's starters
   * are lists of libraries, which the packaged program does not contain.
   */
  @Test
  void billOfMaterialsListsTheLibrariesOfTheImage() throws IOException, InterruptedException {
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
