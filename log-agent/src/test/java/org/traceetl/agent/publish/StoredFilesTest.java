package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.state.StateDirectory;

/**
 * The files of queues and decisions stay what they are: an agent reads those of earlier releases.
 */
final class StoredFilesTest {
  private static final String QUEUES =
      """
      trace-etl topology 1 trace-spans at 127.0.0.1:9876
      3 broker b
      0 broker-a
      """;
  private static final String DEMAND =
      "trace-etl demand 1 trace-routing at 127.0.0.1:9876\nbytes\nof a record";

  private static final Topology TOPOLOGY =
      new Topology(List.of(new BrokerQueue("broker-a", 0), new BrokerQueue("broker b", 3)));

  @TempDir private Path directory;

  @Test
  void theFilesAreTheseTexts() throws IOException {
    try (StateDirectory state = StateDirectory.open(directory, Disk.SYSTEM)) {
      new TopologyFile(state, PublishConfig.defaults()).save(TOPOLOGY);
      demand(state).save("bytes\nof a record".getBytes(UTF_8));
    }

    assertThat(directory.resolve("topology")).hasContent(QUEUES);
    assertThat(directory.resolve("demand")).hasContent(DEMAND);
  }

  @Test
  void theseTextsAreFiles() throws IOException {
    Files.writeString(directory.resolve("topology"), QUEUES);
    Files.writeString(directory.resolve("demand"), DEMAND);

    try (StateDirectory state = StateDirectory.open(directory, Disk.SYSTEM)) {
      assertThat(new TopologyFile(state, PublishConfig.defaults()).load()).contains(TOPOLOGY);
      assertThat(demand(state).load()).contains("bytes\nof a record".getBytes(UTF_8));
    }
  }

  private static DecisionsFile demand(StateDirectory state) {
    return new DecisionsFile(state, "demand", "trace-routing", PublishConfig.defaults());
  }
}
