package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.EmbeddedRocketMq;

final class EmbeddedRocketMqTest {
  @Test
  void carriesMessagesInEachQueueOfATopic() throws Exception {
    String topic = SharedBroker.newTopic(4);
    String namesrv = SharedBroker.get().namesrvAddress();
    MessageQueue last = new MessageQueue(topic, EmbeddedRocketMq.BROKER, 3);

    DefaultMQProducer producer = new DefaultMQProducer("producer-" + topic);
    producer.setNamesrvAddr(namesrv);
    producer.start();
    try {
      assertThat(producer.fetchPublishMessageQueues(topic)).hasSize(4);
      Message message = new Message(topic, "body".getBytes(UTF_8));
      assertThat(producer.send(message, last, 20_000).getSendStatus())
          .isEqualTo(SendStatus.SEND_OK);
    } finally {
      producer.shutdown();
    }

    DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("consumer-" + topic);
    consumer.setNamesrvAddr(namesrv);
    consumer.start();
    try {
      assertThat(consumer.fetchMessageQueues(topic)).hasSize(4);
      consumer.assign(List.of(last));
      consumer.seekToBegin(last);
      assertThat(consumer.poll(20_000))
          .extracting(MessageExt::getBody)
          .containsExactly("body".getBytes(UTF_8));
    } finally {
      consumer.shutdown();
    }
  }
}
