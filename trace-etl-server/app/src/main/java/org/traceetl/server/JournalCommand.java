package org.traceetl.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Set;
import java.util.stream.Collectors;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.chain.LogInspection;
import org.traceetl.server.window.QueueId;

/** Shows an operator the journal of a queue. It claims no queue and joins no consumer group. */
final class JournalCommand {
  private final JournalAccess access;
  private final String topic;

  /** Topic of what the journal counts. */
  private final String source;

  private final PrintWriter out;

  private JournalCommand(JournalAccess access, String topic, String source, PrintWriter out) {
    this.access = access;
    this.topic = topic;
    this.source = source;
    this.out = out;
  }

  static JournalCommand ofSpans(ServerConfig config, PrintWriter out) {
    return new JournalCommand(
        JournalAccess.of(config, ServerPlatform.system(), null),
        config.journal().topic(),
        config.rocketmq().topic(),
        out);
  }

  static JournalCommand ofEdges(ServerConfig config, PrintWriter out) {
    return new JournalCommand(
        JournalAccess.ofEdges(config, ServerPlatform.system()),
        config.edges().journalTopic(),
        config.edges().topic(),
        out);
  }

  /** An operation on a queue's journal. */
  interface Action {
    void on(LogInspection log) throws IOException, InterruptedException;
  }

  /**
   * Opens a queue's journal.
   *
   * @param name name of the queue, {@code broker/queue}
   * @throws IllegalArgumentException if the queue does not exist
   * @throws IOException if the journal cannot be read, or a write is not confirmed
   */
  void run(String name, Action action) throws IOException, InterruptedException {
    try (BrokerLogs logs = access.logs()) {
      logs.start();
      action.on(
          new LogInspection(
              logs,
              access.journals(),
              topic,
              source,
              access.keys(),
              queue(logs.queues(), name),
              out));
    }
  }

  private QueueId queue(Set<QueueId> queues, String name) {
    return queues.stream()
        .filter(queue -> queue.toString().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "--journal = "
                    + name
                    + ": must be a queue of topic "
                    + topic
                    + ": "
                    + (queues.isEmpty()
                        ? "it has none"
                        : queues.stream()
                            .sorted()
                            .map(QueueId::toString)
                            .collect(Collectors.joining(", ")))));
  }
}
