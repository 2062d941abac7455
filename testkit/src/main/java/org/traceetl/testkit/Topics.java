package org.traceetl.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/**
 * Creates topics as soon as a broker is available.
 *
 * @param nameServer {@code host:port}
 * @param cluster the brokers' cluster
 */
public record Topics(String nameServer, String cluster) {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  /**
   * Creates the topics of an installation.
   *
   * @param arguments name server, cluster, and number of queues
   */
  public static void main(String... arguments) throws IOException, InterruptedException {
    Topics topics = new Topics(arguments[0], arguments[1]);
    int queues = Integer.parseInt(arguments[2]);
    topics.make("trace-spans", queues, 1, () -> true);
    topics.make("trace-windows", queues, 1, () -> true);
    topics.make("trace-routing", 1, 1, () -> true);
  }

  /**
   * @param brokers number of broker names that must have the topic
   * @param brokerLives returns false to end the wait
   * @throws IOException if the brokers do not create the topic within minutes
   */
  void make(String topic, int queues, int brokers, BooleanSupplier brokerLives)
      throws IOException, InterruptedException {
    DefaultMQProducer producer = new DefaultMQProducer("make-topics");
    producer.setNamesrvAddr(nameServer);
    try {
      producer.start();
      long startNanos = System.nanoTime();
      while (true) {
        try {
          producer.createTopic(cluster, topic, queues, Map.of());
          // A broker that registers later does not have the topic yet.
          if (producer.fetchPublishMessageQueues(topic).size() >= queues * brokers) {
            return;
          }
        } catch (MQClientException e) {
          if (!brokerLives.getAsBoolean() || System.nanoTime() - startNanos > LIMIT.toNanos()) {
            throw e;
          }
        }
        if (System.nanoTime() - startNanos > LIMIT.toNanos()) {
          throw new IOException("topic " + topic + " does not exist on " + brokers + " brokers");
        }
        Thread.sleep(500);
      }
    } catch (MQClientException e) {
      throw new IOException("topic " + topic + " cannot be created", e);
    } finally {
      producer.shutdown();
    }
  }
}
