package org.traceetl.perf.systest.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Publishes spans as OzHera's agents do: one message each, on a queue chosen by the application and
 * one of several numbers. An unconfirmed message may be stored or not; it is not repeated, and the
 * run is invalid. Confined to one thread.
 */
final class TopicSender implements AutoCloseable {
  private static final int MAX_UNCONFIRMED = 256;
  private static final int TIMEOUT_MILLIS = 30_000;

  private final String topic;
  private final int partitions;
  private final DefaultMQProducer producer;
  private final List<MessageQueue> queues;
  private final Semaphore unconfirmed = new Semaphore(MAX_UNCONFIRMED);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final SendCallback confirmation =
      new SendCallback() {
        @Override
        public void onSuccess(SendResult result) {
          unconfirmed.release();
        }

        @Override
        public void onException(Throwable e) {
          failure.compareAndSet(null, e);
          unconfirmed.release();
        }
      };
  private long sent;

  /**
   * @param partitions the maximum number of queues of an application
   */
  TopicSender(String nameServer, String topic, int partitions) throws MQClientException {
    this.topic = topic;
    this.partitions = partitions;
    producer = new DefaultMQProducer("hera_producer");
    producer.setNamesrvAddr(nameServer);
    producer.setSendMsgTimeout(TIMEOUT_MILLIS);
    producer.setRetryTimesWhenSendAsyncFailed(0);
    producer.start();
    queues =
        producer.fetchPublishMessageQueues(topic).stream()
            .sorted(Comparator.comparingInt(MessageQueue::getQueueId))
            .toList();
  }

  /**
   * Sends a span, and waits while too many messages are unconfirmed.
   *
   * @throws IllegalStateException if the broker has failed to confirm a message
   */
  void send(String application, byte[] message) throws Exception {
    unconfirmed.acquire();
    check();
    String key = "p" + sent++ % partitions + application;
    int queue = Hashing.consistentHash(Hashing.murmur3_128().hashString(key, UTF_8), queues.size());
    producer.send(new Message(topic, message), queues.get(queue), confirmation);
  }

  /** Waits until the broker has confirmed all messages. */
  void flush() throws InterruptedException {
    if (!unconfirmed.tryAcquire(MAX_UNCONFIRMED, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("the broker does not confirm messages");
    }
    unconfirmed.release(MAX_UNCONFIRMED);
    check();
  }

  private void check() {
    if (failure.get() != null) {
      throw new IllegalStateException("the broker did not confirm a message", failure.get());
    }
  }

  @Override
  public void close() {
    producer.shutdown();
  }
}
