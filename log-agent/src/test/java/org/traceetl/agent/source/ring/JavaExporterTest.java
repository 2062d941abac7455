package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.ring.RingAgent.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import org.traceetl.exporter.ring.RingWriter;
import org.traceetl.proto.ring.RingGolden;
import org.traceetl.proto.ring.RingText;

/** Tests that the agent reads what Java's exporter writes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class JavaExporterTest {
  private static final String NAME = "4711-0123456789abcdef.ring";

  @TempDir private Path temporary;
  private RingAgent agent;

  @BeforeEach
  void start() throws IOException {
    agent = RingAgent.of(temporary.resolve("rings"), 4);
    agent.start();
  }

  @AfterEach
  void close() throws IOException {
    agent.close();
  }

  @Test
  void itsRingEqualsTheGoldenRing() throws Exception {
    try (RingWriter writer = JavaExporter.write(temporary)) {
      assertThat(String.join("\n", RingText.lines(writer.file())) + "\n")
          .isEqualTo(RingGolden.read("ring_1.txt"));
    }
  }

  @Test
  void theAgentReadsTheSpansOfAnotherJvmUntilItIsKilled() throws Exception {
    org.traceetl.proto.ring.RingWriter golden = agent.writer(NAME, RingGolden.SHAPE);
    RingGolden.SPANS.forEach(span -> assertThat(golden.write(span)).isTrue());
    int count = RingGolden.SPANS.size();
    await().until(() -> agent.intake.size() == count);
    Process application =
        RingApplication.start(JavaExporter.class, agent.directory().toString(), "1");
    try (BufferedReader output = application.inputReader()) {
      assertThat(output.readLine()).isEqualTo("made 1");
      await().until(() -> agent.intake.size() == 2 * count);
    } finally {
      application.destroyForcibly().waitFor();
    }

    List<Recorded> spans = agent.intake.spans();
    assertThat(spans.subList(count, 2 * count)).isEqualTo(spans.subList(0, count));
    assertThat(agent.intake.resources()).containsOnly(agent.intake.resources().getFirst());
    await().until(() -> agent.metrics().reading == 1);
    try (Stream<Path> files = Files.list(agent.directory())) {
      assertThat(files)
          .containsExactlyInAnyOrder(
              agent.directory().resolve("wake"), agent.directory().resolve(NAME));
    }
  }
}
