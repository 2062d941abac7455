package org.traceetl.perf.bench;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Writes messages to the queues of a topic, as fast as the broker confirms them. An unconfirmed
 * message may be stored or not; it is not repeated. Confined to one thread.
 */
public final class TopicWriter implements AutoCloseable {
  private static final int MAX_UNCONFIRMED = 64;
  private static final long TIMEOUT_MILLIS = 30_000;

  private final String topic;
  private final DefaultMQProducer producer;
  private final List<MessageQueue> queues;
  private final Semaphore unconfirmed = new Semaphore(MAX_UNCONFIRMED);
  private final AtomicInteger failed = new AtomicInteger();
  private final SendCallback confirmed =
      new SendCallback() {
        @Override
        public void onSuccess(SendResult result) {
          unconfirmed.release();
        }

        @Override
        public void onException(Throwable e) {
          failed.incrementAndGet();
          unconfirmed.release();
        }
      };

  /**
   * @param name the producer's name, unique in this JVM
   */
  public TopicWriter(String nameServer, String topic, String name) throws MQClientException {
    this.topic = topic;
    producer = new DefaultMQProducer(name);
    producer.setNamesrvAddr(nameServer);
    producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
    producer.setInstanceName(name);
    producer.setRetryTimesWhenSendAsyncFailed(0);
    producer.start();
    queues =
        producer.fetchPublishMessageQueues(topic).stream()
            .sorted(Comparator.comparingInt(MessageQueue::getQueueId))
            .toList();
  }

  public int queues() {
    return queues.size();
  }

  /**
   * Sends a message; waits while too many are unconfirmed.
   *
   * @param queue a number, taken modulo the number of queues
   */
  public void send(int queue, byte[] body) throws Exception {
    unconfirmed.acquire();
    producer.send(
        new Message(topic, body), queues.get(queue % queues.size()), confirmed, TIMEOUT_MILLIS);
  }

  /** Sends messages in one request; they are separate in the queue. Waits as {@link #send} does. */
  void sendTogether(int queue, List<byte[]> bodies) throws Exception {
    unconfirmed.acquire();
    List<Message> messages = bodies.stream().map(body -> new Message(topic, body)).toList();
    producer.send(messages, queues.get(queue % queues.size()), confirmed, TIMEOUT_MILLIS);
  }

  /**
   * Waits until all messages are confirmed.
   *
   * @throws IllegalStateException if the broker refused a message
   */
  public void await() throws InterruptedException {
    unconfirmed.acquire(MAX_UNCONFIRMED);
    unconfirmed.release(MAX_UNCONFIRMED);
    if (failed.get() > 0) {
      throw new IllegalStateException(failed + " messages were refused by the broker");
    }
  }

  @Override
  public void close() {
    producer.shutdown();
  }
}
