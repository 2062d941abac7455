package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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
  @TempDir
  Path directory;

  @Test
  void messagesOutliveARestartInTheSameDirectory() throws Exception {
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory)) {
      rocketMq.createTopic("trace-spans", 4);
      DefaultMQProducer producer = new DefaultMQProducer("test-producer");
      producer.setNamesrvAddr(rocketMq.namesrvAddress());
      producer.start();
      try {
        assertThat(producer.fetchPublishMessageQueues("trace-spans")).hasSize(4);
        MessageQueue queue = new MessageQueue("trace-spans", EmbeddedRocketMq.BROKER, 3);
        assertThat(
                producer
                    .send(new Message("trace-spans", "kept".getBytes(UTF_8)), queue)
                    .getSendStatus())
            .isEqualTo(SendStatus.SEND_OK);
      } finally {
        producer.shutdown();
      }
    }
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory)) {
      DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("test-consumer");
      consumer.setNamesrvAddr(rocketMq.namesrvAddress());
      MessageQueue queue = new MessageQueue("trace-spans", EmbeddedRocketMq.BROKER, 3);
      consumer.start();
      try {
        assertThat(consumer.fetchMessageQueues("trace-spans")).hasSize(4);
        consumer.assign(List.of(queue));
        consumer.seekToBegin(queue);
        assertThat(consumer.poll(20_000))
            .extracting(MessageExt::getBody)
            .containsExactly("kept".getBytes(UTF_8));
      } finally {
        consumer.shutdown();
      }
    }
  }
}
