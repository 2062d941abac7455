package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.state.StateDirectory;

/**
 * The last known record of a kind on disk. It lets an agent that starts while the broker is
 * unreachable route as other agents do. The file is a line with the topic and the name servers,
 * then the record.
 */
public final class DecisionsFile {
  private static final Logger log = LoggerFactory.getLogger(DecisionsFile.class);

  private final StateDirectory state;
  private final String name;
  private final byte[] header;

  /**
   * @param name of the file and of the kind
   */
  public DecisionsFile(StateDirectory state, String name, String topic, PublishConfig config) {
    this.state = state;
    this.name = name;
    header =
        ("trace-etl " + name + " 1 " + topic + " at " + config.nameServer() + "\n").getBytes(UTF_8);
  }

  String name() {
    return name;
  }

  /** Returns the record of this topic; empty if there is none or it cannot be read. */
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

  /** Stores the record; a failure is only logged. */
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
