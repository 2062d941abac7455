package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EmbeddedRocketMqTest {
  @TempDir Path directory;

  @Test
  void carriesMessagesAndKeepsItsFilesInItsDirectory() throws Exception {
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory)) {
      rocketMq.createTopic("four-queues", 4);
      MessageQueue last = new MessageQueue("four-queues", EmbeddedRocketMq.BROKER, 3);

      DefaultMQProducer producer = new DefaultMQProducer("test-producer");
      producer.setNamesrvAddr(rocketMq.namesrvAddress());
      producer.start();
      try {
        assertThat(producer.fetchPublishMessageQueues("four-queues")).hasSize(4);
        Message message = new Message("four-queues", "body".getBytes(UTF_8));
        assertThat(producer.send(message, last, 20_000).getSendStatus())
            .isEqualTo(SendStatus.SEND_OK);
      } finally {
        producer.shutdown();
      }

      DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("test-consumer");
      consumer.setNamesrvAddr(rocketMq.namesrvAddress());
      consumer.start();
      try {
        assertThat(consumer.fetchMessageQueues("four-queues")).hasSize(4);
        consumer.assign(List.of(last));
        consumer.seekToBegin(last);
        assertThat(consumer.poll(20_000))
            .extracting(MessageExt::getBody)
            .containsExactly("body".getBytes(UTF_8));
      } finally {
        consumer.shutdown();
      }
    }
    assertThat(Files.isDirectory(directory.resolve("store").resolve("commitlog"))).isTrue();
    assertThat(directory.resolve("logs").resolve("rocketmq.log")).exists();
  }
}
