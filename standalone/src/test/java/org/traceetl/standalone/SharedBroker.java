package org.traceetl.standalone;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.testkit.EmbeddedRocketMq;

/** One broker for all tests of this JVM; each test has its own topic. */
final class SharedBroker {
  private static EmbeddedRocketMq broker;
  private static DefaultMQProducer producer;

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

  /** Returns a new topic, with the topic of its journal. */
  static String newTopic(int queues) throws IOException {
    String topic = "spans-" + UUID.randomUUID();
    get().createTopic(topic, queues);
    get().createTopic(journalOf(topic), queues);
    return topic;
  }

  /** Sends a message, and waits until the broker has stored it. */
  static synchronized void send(String topic, int queue, byte[] body) throws Exception {
    if (producer == null) {
      producer = new DefaultMQProducer("shared-broker");
      producer.setNamesrvAddr(get().namesrvAddress());
      producer.setInstanceName("shared-broker");
      producer.start();
    }
    producer.send(
        new Message(topic, body), new MessageQueue(topic, EmbeddedRocketMq.BROKER, queue), 20_000);
  }

  static String journalOf(String topic) {
    return "journal-of-" + topic;
  }

  /** Returns the topic of hotspot decisions for a topic of spans, after creating it. */
  static String newRoutingTopic(String topic) throws IOException {
    String routing = "routing-of-" + topic;
    get().createTopic(routing, 1);
    return routing;
  }

  /** Returns the properties of a server with one worker that decides on hotspots every second. */
  static Map<String, Object> decidingServer(String topic) throws IOException {
    return new HashMap<>(
        Map.of(
            "trace-etl.rocketmq.workers", 1,
            "trace-etl.index.type", "none",
            "trace-etl.hotspots.topic", newRoutingTopic(topic),
            "trace-etl.hotspots.interval", "1s",
            "trace-etl.metrics.queue-label", "always"));
  }

  /**
   * Returns settings of an installation on the topic, with its own consumer group, free ports and
   * windows of half a second.
   *
   * @param properties of its server
   */
  static EmbeddedInstallation.Settings settings(
      String topic, Path directory, Map<String, Object> properties) throws IOException {
    return settings(topic, directory, List.of(), properties);
  }

  /** Returns such settings with globs of trace logs that the agent reads. */
  static EmbeddedInstallation.Settings settings(
      String topic, Path directory, List<String> traceLogs, Map<String, Object> properties)
      throws IOException {
    Map<String, Object> all = new HashMap<>(properties);
    all.putIfAbsent("trace-etl.rocketmq.consumer-group", topic);
    return new EmbeddedInstallation.Settings(
        get().namesrvAddress(),
        topic,
        journalOf(topic),
        directory,
        0,
        0,
        0,
        Duration.ofMillis(500),
        directory.resolve("rings").toAbsolutePath(),
        traceLogs,
        List.of(),
        all);
  }

  /** Returns the properties of a further server on a free port. */
  static Map<String, Object> furtherServer(EmbeddedInstallation.Settings settings) {
    Map<String, Object> properties = new HashMap<>(EmbeddedInstallation.serverProperties(settings));
    properties.put("server.port", 0);
    return properties;
  }
}
