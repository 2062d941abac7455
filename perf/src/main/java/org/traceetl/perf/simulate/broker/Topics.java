package org.traceetl.perf.simulate.broker;

import java.util.ArrayList;
import java.util.List;

/** The topics of a cluster, by index. Every broker has the same. */
final class Topics {
  static final int SPANS = 0;
  static final int JOURNAL = 1;
  static final int DECISIONS = 2;
  static final int EDGES = 3;
  static final int EDGE_JOURNAL = 4;

  /** The names that servers and agents use by default. */
  static final String EDGES_NAME = "trace-edges";

  private static final String EDGE_JOURNAL_NAME = "trace-edge-windows";

  /** Queues of half-edges that can be added on each broker. */
  private static final int MOST_ADDED = 1;

  private final List<String> names;
  private final int[] queues;
  private final LogQueue[][] logs;

  Topics(ClusterOptions options) {
    names =
        new ArrayList<>(
            List.of(options.spanTopic(), options.journalTopic(), options.decisionsTopic()));
    if (options.edgeQueues() > 0) {
      names.addAll(List.of(EDGES_NAME, EDGE_JOURNAL_NAME));
    }
    queues = new int[names.size()];
    logs = new LogQueue[names.size()][];
    for (int topic = 0; topic < logs.length; topic++) {
      queues[topic] = queues(topic, options);
      logs[topic] = new LogQueue[queues[topic] + (isOfEdges(topic) ? MOST_ADDED : 0)];
      for (int queue = 0; queue < logs[topic].length; queue++) {
        logs[topic][queue] = new LogQueue(topic, queue);
      }
    }
  }

  private static int queues(int topic, ClusterOptions options) {
    return switch (topic) {
      case SPANS, JOURNAL -> options.queues();
      case DECISIONS -> 1;
      default -> options.edgeQueues();
    };
  }

  private static boolean isOfEdges(int topic) {
    return topic == EDGES || topic == EDGE_JOURNAL;
  }

  /** Returns the topic of the messages that a journal's records are about. */
  static int source(int journal) {
    return journal == EDGE_JOURNAL ? EDGES : SPANS;
  }

  static boolean isJournal(int topic) {
    return topic == JOURNAL || topic == EDGE_JOURNAL;
  }

  int count() {
    return names.size();
  }

  String name(int topic) {
    return names.get(topic);
  }

  /** Returns the index of a topic; -1 if it does not exist. */
  int index(String topic) {
    return names.indexOf(topic);
  }

  /** Returns the number of queues on each broker. */
  int queues(int topic) {
    return queues[topic];
  }

  /** Returns the number of queues on each broker that there can be. */
  int mostQueues(int topic) {
    return logs[topic].length;
  }

  /**
   * Adds a queue of half-edges and that of their journal on each broker. Has no effect if there are
   * no such topics, or as many queues as can be.
   */
  void addEdgeQueue() {
    for (int topic = EDGES; topic < names.size(); topic++) {
      queues[topic] = Math.min(queues[topic] + 1, mostQueues(topic));
    }
  }

  /** Returns a queue; null if it does not exist. */
  LogQueue queue(String topic, int queue) {
    int index = index(topic);
    return index < 0 || queue < 0 || queue >= queues[index] ? null : logs[index][queue];
  }
}
