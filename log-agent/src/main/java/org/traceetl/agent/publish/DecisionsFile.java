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
 * The last known record of a kind on disk, so that an agent started while the broker is away routes
 * as the others do. A line with the topic and the name servers, then the record.
 */
public final class DecisionsFile {
  private static final Logger log = LoggerFactory.getLogger(DecisionsFile.class);

  private final StateDirectory state;
  private final String name;
  private final byte[] header;

  /**
   * @param name of the file, and what is in it
   */
  public DecisionsFile(StateDirectory state, String name, String topic, RocketMqConfig config) {
    this.state = state;
    this.name = name;
    header =
        ("trace-etl " + name + " 1 " + topic + " at " + config.nameServer() + "\n").getBytes(UTF_8);
  }

  String name() {
    return name;
  }

  /** The record of this topic; empty when there was none or it cannot be read. */
  Optional<byte[]> load() {
    try {
      return state
          .read(name)
          .filter(content -> Arrays.mismatch(content, header) == header.length)
          .map(content -> Arrays.copyOfRange(content, header.length, content.length));
    } catch (IOException e) {
      log.warn("Cannot read the stored {}: {}", name, e.toString());
      return Optional.empty();
    }
  }

  /** Keeps the record; when that fails it is told, and nothing else. */
  void save(byte[] record) {
    byte[] content = Arrays.copyOf(header, header.length + record.length);
    System.arraycopy(record, 0, content, header.length, record.length);
    try {
      state.write(name, content);
    } catch (IOException e) {
      log.warn("Cannot store the {} for the next start: {}", name, e.toString());
    }
  }
}
