package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RocketMqConfig;
import org.traceetl.agent.state.StateDirectory;

/**
 * The last known record of decisions on disk, so that an agent started while the broker is away
 * routes as the others do. A line with the topic and the name servers, then the record.
 */
public final class DecisionsFile {
  private static final Logger log = LoggerFactory.getLogger(DecisionsFile.class);
  private static final String FILE = "hotspots";

  private final StateDirectory state;
  private final byte[] header;

  public DecisionsFile(StateDirectory state, String topic, RocketMqConfig config) {
    this.state = state;
    header =
        ("trace-etl hotspots 1 " + topic + " at " + config.nameServer() + "\n").getBytes(UTF_8);
  }

  /** The record of this topic; empty when there was none or it cannot be read. */
  Optional<byte[]> load() {
    try {
      return state
          .read(FILE)
          .filter(content -> Arrays.mismatch(content, header) == header.length)
          .map(content -> Arrays.copyOfRange(content, header.length, content.length));
    } catch (IOException e) {
      log.warn("The last known decisions on hotspots cannot be read: {}", e.toString());
      return Optional.empty();
    }
  }

  /** Keeps the record; when that fails it is told, and nothing else. */
  void save(byte[] record) {
    byte[] content = Arrays.copyOf(header, header.length + record.length);
    System.arraycopy(record, 0, content, header.length, record.length);
    try {
      state.write(FILE, content);
    } catch (IOException e) {
      log.warn("Decisions on hotspots cannot be kept for the next start: {}", e.toString());
    }
  }
}
