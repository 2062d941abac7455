package org.traceetl.perf.systest.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import org.apache.rocketmq.client.exception.MQClientException;
import org.traceetl.perf.bench.TopicWriter;

/**
 * Publishes spans as OzHera's agents do: one message each, on a queue chosen by the application and
 * one of several numbers. Confined to one thread.
 */
final class TopicSender implements AutoCloseable {
  private final TopicWriter writer;
  private final int partitions;
  private long sent;

  /**
   * @param partitions the maximum number of queues of an application
   */
  TopicSender(String nameServer, String topic, int partitions) throws MQClientException {
    this.partitions = partitions;
    writer = new TopicWriter(nameServer, topic, "hera_producer");
  }

  /** Sends a span, and waits while too many messages are unconfirmed. */
  void send(String application, byte[] message) throws Exception {
    String key = "p" + sent++ % partitions + application;
    int queue =
        Hashing.consistentHash(Hashing.murmur3_128().hashString(key, UTF_8), writer.queues());
    writer.send(queue, message);
  }

  /**
   * Waits until the broker has confirmed all messages.
   *
   * @throws IllegalStateException if the broker refused a message; the run is then invalid
   */
  void flush() throws InterruptedException {
    writer.await();
  }

  @Override
  public void close() {
    writer.close();
  }
}
