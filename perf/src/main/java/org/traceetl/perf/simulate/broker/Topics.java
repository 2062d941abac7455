package org.traceetl.perf.simulate.broker;

import java.util.List;

/** The topics of a cluster, by index. Every broker has the same. */
final class Topics {
  static final int JOURNAL = 1;
  static final int DECISIONS = 2;

  private final List<String> names;
  private final int[] queues;
  private final LogQueue[][] logs;

  Topics(ClusterOptions options) {
    names = List.of(options.spanTopic(), options.journalTopic(), options.decisionsTopic());
    queues = new int[] {options.queues(), options.queues(), 1};
    logs = new LogQueue[names.size()][];
    for (int topic = 0; topic < logs.length; topic++) {
      logs[topic] = new LogQueue[queues[topic]];
      for (int queue = 0; queue < queues[topic]; queue++) {
        logs[topic][queue] = new LogQueue(topic, queue);
      }
    }
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

  /** Returns a queue; null if it does not exist. */
  LogQueue queue(String topic, int queue) {
    int index = index(topic);
    return index < 0 || queue < 0 || queue >= queues[index] ? null : logs[index][queue];
  }
}
