package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
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

    SharedBroker.send(topic, 3, "body".getBytes(UTF_8));

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
