package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.state.StateDirectory;

/**
 * The last known queues of the topic on disk. It lets an agent that starts while the broker is
 * unreachable route spans. The file is a line with the topic and the name servers, then a line for
 * each queue: its number, a space, its broker.
 */
public final class TopologyFile {
  private static final Logger log = LoggerFactory.getLogger(TopologyFile.class);
  private static final String FILE = "topology";

  private final StateDirectory state;
  private final String header;

  public TopologyFile(StateDirectory state, PublishConfig config) {
    this.state = state;
    this.header = "trace-etl topology 1 " + config.topic() + " at " + config.nameServer();
  }

  /** Returns the queues of this topic; empty if they were never stored or cannot be read. */
  public Optional<Topology> load() {
    try {
      byte[] content = state.read(FILE).orElse(new byte[0]);
      List<String> lines = new String(content, UTF_8).lines().toList();
      if (lines.size() < 2 || !lines.getFirst().equals(header)) {
        return Optional.empty();
      }
      List<BrokerQueue> queues = new ArrayList<>();
      for (String line : lines.subList(1, lines.size())) {
        String[] fields = line.split(" ", 2);
        queues.add(new BrokerQueue(fields[1], Integer.parseInt(fields[0])));
      }
      return Optional.of(new Topology(queues));
    } catch (IOException | RuntimeException e) {
      log.warn("Cannot read the stored queues: {}", e.toString());
      return Optional.empty();
    }
  }

  /** Stores the queues; a failure is only logged. */
  public void save(Topology topology) {
    StringBuilder text = new StringBuilder(header + "\n");
    topology.queues().forEach(queue -> text.append(queue.id() + " " + queue.broker() + "\n"));
    try {
      state.write(FILE, text.toString().getBytes(UTF_8));
    } catch (IOException e) {
      log.warn("Cannot store the topic's queues for the next start: {}", e.toString());
    }
  }
}
