package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.PublishConfig;

final class RocketMqTransportTest {
  @Test
  void wrappedFailuresAreClassifiedByTheirCause() {
    RemotingTimeoutException timeout = new RemotingTimeoutException("waited 3,000 ms");
    RemotingConnectException connect = new RemotingConnectException("10.0.0.1:10911");

    assertThat(told(timeout)).startsWith("timeout RemotingTimeoutException: waited 3,000 ms");
    assertThat(told(new MQClientException("unknown reason", timeout))).isEqualTo(told(timeout));
    assertThat(told(new MQClientException("unknown reason", connect))).isEqualTo(told(connect));
    assertThat(told(connect)).startsWith("connect RemotingConnectException: ");
    assertThat(told(new MQClientException(1, "no broker"))).startsWith("client MQClientException");
    assertThat(told(new MQBrokerException(ResponseCode.SYSTEM_ERROR, "busy")))
        .startsWith("broker MQBrokerException");
  }

  @Test
  void aNameServerThatIsAwayIsNotTakenForAMissingTopic() throws IOException {
    PublishConfig config =
        new PublishConfig("127.0.0.1:1", "spans", "agents", "", "", 1_000, 1, 1, 1_000);
    try (RocketMqTransport transport = RocketMqTransport.start(config, "away")) {
      assertThatThrownBy(transport::queues)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("Cannot reach name server 127.0.0.1:1 (")
          .hasMessageEndingWith("): start it or correct rocketmq.name-server");
    }
  }

  @Test
  void deniedAccessNamesTheKeysToCheck() {
    assertThat(told(new MQBrokerException(ResponseCode.NO_PERMISSION, "check signature failed")))
        .startsWith("denied MQBrokerException: ")
        .contains("check signature failed", "check rocketmq.access-key and rocketmq.secret-key");
  }

  @Test
  void illegalMessagesAreRefused() {
    assertThat(told(new MQBrokerException(ResponseCode.MESSAGE_ILLEGAL, "too long")))
        .startsWith("refused ");
    assertThat(told(new MQClientException(ResponseCode.MESSAGE_ILLEGAL, "too long")))
        .startsWith("refused ");
  }

  @Test
  void decisionsAreReadFromTheLowestUsableQueue() {
    TopicRouteData route = new TopicRouteData();
    route.setBrokerDatas(
        List.of(new BrokerData("cluster", "a", null), new BrokerData("cluster", "b", null)));
    route.setQueueDatas(
        List.of(queues("d", 1, 1), queues("c", 2, 1), queues("b", 0, 1), queues("a", 1, 0)));

    assertThat(RocketMqTransport.lowestBroker(route)).contains("c");
    route.setQueueDatas(List.of());
    assertThat(RocketMqTransport.lowestBroker(route)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "SEND_OK, confirmed",
    "FLUSH_DISK_TIMEOUT, flush_disk_timeout",
    "FLUSH_SLAVE_TIMEOUT, flush_slave_timeout",
    "SLAVE_NOT_AVAILABLE, slave_not_available",
  })
  void onlySendOkConfirmsABatch(SendStatus status, String outcome) {
    StringBuilder told = new StringBuilder();
    SendResult result = new SendResult();
    result.setSendStatus(status);
    RocketMqTransport.callback(answer(told)).onSuccess(result);

    assertThat(told.toString()).startsWith(outcome);
  }

  private static QueueData queues(String broker, int read, int write) {
    QueueData data = new QueueData();
    data.setBrokerName(broker);
    data.setReadQueueNums(read);
    data.setWriteQueueNums(write);
    return data;
  }

  private static String told(Throwable failure) {
    StringBuilder told = new StringBuilder();
    RocketMqTransport.report(failure, answer(told));
    return told.toString();
  }

  private static Transport.Answer answer(StringBuilder told) {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        told.append("confirmed");
      }

      @Override
      public void failed(Transport.Failure kind, String detail) {
        told.append(kind.label()).append(' ').append(detail);
      }

      @Override
      public void refused(String detail) {
        told.append("refused ").append(detail);
      }
    };
  }
}
