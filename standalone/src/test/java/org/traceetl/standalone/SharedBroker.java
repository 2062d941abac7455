package org.traceetl.standalone;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.rocketmq.common.MQVersion;

/** One broker for all tests of this JVM, ended with it; each test has a topic of its own. */
final class SharedBroker {
  private static EmbeddedRocketMq broker;

  private SharedBroker() {}

  static synchronized EmbeddedRocketMq get() throws IOException {
    if (broker == null) {
      Path target = Path.of(System.getProperty("basedir", "."), "target");
      broker = EmbeddedRocketMq.start(target.resolve("broker-" + UUID.randomUUID()));
      System.out.println(
          "Real component: RocketMQ "
              + MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION).replace('_', '.')
              + ", name server and broker inside the test's JVM");
    }
    return broker;
  }

  /** A topic that nobody else has, with the one of its journal. */
  static String newTopic(int queues) throws IOException {
    String topic = "spans-" + UUID.randomUUID();
    get().createTopic(topic, queues);
    get().createTopic(journalOf(topic), queues);
    return topic;
  }

  static String journalOf(String topic) {
    return "journal-of-" + topic;
  }
}
