package org.traceetl.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/**
 * Makes topics, as soon as a broker is there for them.
 *
 * @param nameServer {@code host:port}
 * @param cluster the brokers' cluster
 */
public record Topics(String nameServer, String cluster) {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  /**
   * Makes those that an installation needs.
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
   * @param brokers how many broker names must have it
   * @param brokerLives false ends the waiting for it
   * @throws IOException if the broker does not make it, within minutes
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
          // A broker that registers later does not have it yet.
          if (producer.fetchPublishMessageQueues(topic).size() >= queues * brokers) {
            return;
          }
        } catch (MQClientException e) {
          if (!brokerLives.getAsBoolean() || System.nanoTime() - startNanos > LIMIT.toNanos()) {
            throw e;
          }
        }
        if (System.nanoTime() - startNanos > LIMIT.toNanos()) {
          throw new IOException("topic " + topic + " is not on " + brokers + " brokers");
        }
        Thread.sleep(500);
      }
    } catch (MQClientException e) {
      throw new IOException("topic " + topic + " cannot be made", e);
    } finally {
      producer.shutdown();
    }
  }
}
