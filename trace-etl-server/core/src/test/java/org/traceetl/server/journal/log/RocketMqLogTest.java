package org.traceetl.server.journal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.common.constant.PermName;
import org.apache.rocketmq.remoting.netty.NettyRemotingServer;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.header.GetMaxOffsetResponseHeader;
import org.apache.rocketmq.remoting.protocol.header.SendMessageResponseHeader;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** Tests answers of brokers with replicas, which a single broker does not give. */
class RocketMqLogTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String TOPIC = "trace-windows";

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private Stub one;
  private Stub other;
  private Stub names;
  private RocketMqLogs logs;

  /** The master in the name server's route. */
  private volatile Stub master;

  /** A program that answers RocketMQ's requests. */
  private final class Stub implements NettyRequestProcessor, AutoCloseable {
    private final NettyRemotingServer server;

    /** The response code to messages. */
    private volatile int sendCode = ResponseCode.SUCCESS;

    private volatile long end;

    Stub() {
      NettyServerConfig config = new NettyServerConfig();
      config.setBindAddress("127.0.0.1");
      config.setListenPort(0);
      server = new NettyRemotingServer(config);
      server.registerDefaultProcessor(this, executor);
      server.start();
    }

    String address() {
      return "127.0.0.1:" + server.localListenPort();
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext context, RemotingCommand request)
        throws Exception {
      return switch (request.getCode()) {
        case RequestCode.GET_ROUTEINFO_BY_TOPIC -> {
          RemotingCommand response =
              RemotingCommand.createResponseCommand(ResponseCode.SUCCESS, null);
          response.setBody(route().encode());
          yield response;
        }
        case RequestCode.SEND_MESSAGE_V2 -> {
          RemotingCommand response =
              RemotingCommand.createResponseCommand(SendMessageResponseHeader.class);
          SendMessageResponseHeader header =
              (SendMessageResponseHeader) response.readCustomHeader();
          header.setMsgId("7F00000100002A9F0000000000000000");
          header.setQueueId(QUEUE.queue());
          header.setQueueOffset(end++);
          response.setCode(sendCode);
          yield response;
        }
        case RequestCode.GET_MAX_OFFSET -> {
          RemotingCommand response =
              RemotingCommand.createResponseCommand(GetMaxOffsetResponseHeader.class);
          ((GetMaxOffsetResponseHeader) response.readCustomHeader()).setOffset(end);
          response.setCode(ResponseCode.SUCCESS);
          yield response;
        }
        default -> RemotingCommand.createResponseCommand(ResponseCode.SUCCESS, null);
      };
    }

    @Override
    public boolean rejectRequest() {
      return false;
    }

    @Override
    public void close() {
      server.shutdown();
    }
  }

  private TopicRouteData route() {
    QueueData queues = new QueueData();
    queues.setBrokerName(QUEUE.broker());
    queues.setReadQueueNums(1);
    queues.setWriteQueueNums(1);
    queues.setPerm(PermName.PERM_READ | PermName.PERM_WRITE);
    TopicRouteData route = new TopicRouteData();
    route.setQueueDatas(List.of(queues));
    route.setBrokerDatas(
        List.of(
            new BrokerData(
                "cluster", QUEUE.broker(), new HashMap<>(Map.of(0L, master.address())))));
    route.setFilterServerTable(new HashMap<>());
    return route;
  }

  @BeforeEach
  void start() throws Exception {
    one = new Stub();
    other = new Stub();
    master = one;
    names = new Stub();
    logs =
        new RocketMqLogs(
            new RocketMqConfig(names.address(), "trace-spans", null, null, null, null),
            TOPIC,
            Duration.ofSeconds(5),
            Clocks.SYSTEM);
    logs.start();
  }

  @AfterEach
  void stop() {
    logs.close();
    names.close();
    other.close();
    one.close();
    executor.shutdownNow();
  }

  @ParameterizedTest
  @CsvSource({
    ResponseCode.FLUSH_DISK_TIMEOUT + ",FLUSH_DISK_TIMEOUT",
    ResponseCode.SLAVE_NOT_AVAILABLE + ",SLAVE_NOT_AVAILABLE",
    ResponseCode.FLUSH_SLAVE_TIMEOUT + ",FLUSH_SLAVE_TIMEOUT",
  })
  void aMessageThatTheBrokerHasButDoesNotConfirmIsNotAppended(int code, String status)
      throws Exception {
    JournalLog log = logs.open(QUEUE);
    assertThat(log.append(new byte[] {1})).isZero();
    one.sendCode = code;

    assertThatThrownBy(() -> log.append(new byte[] {2}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("at offset 1")
        .hasMessageContaining(status);

    one.sendCode = ResponseCode.SUCCESS;
    assertThat(log.append(new byte[] {3})).isEqualTo(2);
  }

  @Test
  void callsGoToOneBrokerUntilOneFails() throws Exception {
    JournalLog log = logs.open(QUEUE);
    JournalLog failing = logs.open(QUEUE);
    other.end = 7;
    assertThat(log.end()).isZero();
    assertThat(failing.end()).isZero();
    // The client may refresh the route at any time; the next call then finds the new master.
    master = other;
    one.sendCode = ResponseCode.FLUSH_SLAVE_TIMEOUT;
    assertThatThrownBy(() -> failing.append(new byte[] {1})).isInstanceOf(IOException.class);

    assertThat(failing.append(new byte[] {2})).isEqualTo(7);
    assertThatThrownBy(log::end)
        .isInstanceOf(IOException.class)
        .hasStackTraceContaining("master is now " + other.address());
    assertThat(log.end()).isEqualTo(8);
  }
}
