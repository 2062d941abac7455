package org.traceetl.agent.publish;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.impl.CommunicationMode;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.consumer.PullResultExt;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.filter.ExpressionType;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.RocketMqSecurity;
import org.traceetl.common.TlsRefused;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.Limits;
import org.traceetl.proto.RecordFormat;

/**
 * The transport to RocketMQ. The client's retries are off, because the publisher retries. Its
 * compression is off, because batches already use a dictionary and it would save too little.
 */
public final class RocketMqTransport implements Transport {
  /**
   * The client's default is 10, which costs a third of an idle agent's CPU. Shutdown waits for it.
   */
  private static final int BATCHING_LOOK_MILLIS = 400;

  private static final String DENIED =
      "; check rocketmq.access-key and rocketmq.secret-key, and that they may publish to the topic";

  /** Enough to find records among messages that others may have sent. */
  private static final int NEWEST_MESSAGES = 32;

  /** The longest record of any kind. */
  private static final int MAX_RECORD_BYTES =
      Stream.of(Demand.FORMAT, EdgeQueues.FORMAT, HotspotDecisions.FORMAT, LearntNames.FORMAT)
          .mapToInt(RecordFormat::maxBytes)
          .max()
          .getAsInt();

  private static final byte[] EMPTY = {};

  /** A message whose ages are not known before it leaves. */
  private static final class AgingMessage extends Message {
    private final transient Supplier<String> ages;

    AgingMessage(String topic, byte[] body, Supplier<String> ages) {
      super(topic, body);
      this.ages = ages;
    }
  }

  /**
   * States the ages when the client encodes the message. Before, it may wait in the client for as
   * long as the timeout, for threads or for the answer of a name server.
   */
  private static final SendMessageHook AGES =
      new SendMessageHook() {
        @Override
        public String hookName() {
          return "ages";
        }

        @Override
        public void sendMessageBefore(SendMessageContext context) {
          if (context.getMessage() instanceof AgingMessage message) {
            message.putUserProperty(BatchAges.PROPERTY, message.ages.get());
          }
        }

        @Override
        public void sendMessageAfter(SendMessageContext context) {}
      };

  private final PublishConfig config;

  /** Null if brokers require none. */
  private final RPCHook credentials;

  private final DefaultMQProducer producer;

  private RocketMqTransport(PublishConfig config, RPCHook credentials, DefaultMQProducer producer) {
    this.config = config;
    this.credentials = credentials;
    this.producer = producer;
  }

  /**
   * Starts the client. The broker need not be reachable yet.
   *
   * @param instance distinguishes this client from others of the JVM
   * @throws IOException if the client refuses its configuration, or TLS cannot be configured as
   *     required
   */
  public static RocketMqTransport start(PublishConfig config, String instance) throws IOException {
    RPCHook credentials = RocketMqSecurity.signer(config.accessKey(), config.secretKey());
    DefaultMQProducer producer = new DefaultMQProducer(config.producerGroup(), credentials);
    producer.setNamesrvAddr(config.nameServer());
    if (config.tls().isPresent()) {
      try {
        RocketMqSecurity.useTls(producer, config.tls().get().caFile().orElse(null), "rocketmq.");
      } catch (TlsRefused e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    producer.setInstanceName("log-agent-" + instance);
    producer.setSendMsgTimeout(config.sendTimeoutMillis());
    producer.setRetryTimesWhenSendAsyncFailed(0);
    producer.setRetryAnotherBrokerWhenNotStoreOK(false);
    producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
    producer.setMaxMessageSize(Limits.MAX_MESSAGE_BYTES);
    producer.setPollNameServerInterval(config.routeRefreshMillis());
    // The client's batching is off, but two of its threads poll for work twice per interval.
    producer.batchMaxDelayMs(BATCHING_LOOK_MILLIS);
    producer.getDefaultMQProducerImpl().registerSendMessageHook(AGES);
    try {
      producer.start();
    } catch (MQClientException e) {
      throw new IOException("rocketmq: cannot start the client: " + e.getErrorMessage(), e);
    }
    return new RocketMqTransport(config, credentials, producer);
  }

  /**
   * Starts the client of an agent, which logs to the agent's state directory.
   *
   * @throws IOException as {@link #start}
   */
  public static RocketMqTransport connect(AgentConfig config, AgentIdentity agent)
      throws IOException {
    redirectClientLog(config.stateDirectory().resolve("rocketmq-client-log"));
    return start(config.rocketmq(), agent.id() + "-" + ProcessHandle.current().pid());
  }

  /**
   * Writes the RocketMQ client's log, warnings only, to a directory of the agent. Call before the
   * first class of the client is loaded. Properties that the operator has set stay.
   */
  private static void redirectClientLog(Path directory) {
    setIfAbsent("rocketmq.log.root", directory.toAbsolutePath().toString());
    setIfAbsent("rocketmq.log.level", "WARN");
    setIfAbsent("rocketmq.log.file.maxIndex", "2");
  }

  private static void setIfAbsent(String key, String value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, value);
    }
  }

  @Override
  public void send(BrokerQueue queue, byte[] message, Supplier<String> ages, Answer answer) {
    String topic = queue.topic().name(config);
    Message sent = new AgingMessage(topic, message, ages);
    try {
      producer.send(sent, new MessageQueue(topic, queue.broker(), queue.id()), callback(answer));
    } catch (MQClientException | RemotingException e) {
      report(e, answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      answer.failed(Failure.CLIENT, "the sender thread was interrupted");
    }
  }

  /** Returns a callback that reports the client's outcome to the answer. */
  static SendCallback callback(Answer answer) {
    return new SendCallback() {
      @Override
      public void onSuccess(SendResult result) {
        // Without SEND_OK the broker has the message, but may lose it in a power failure or
        // failover.
        switch (result.getSendStatus()) {
          case SEND_OK -> answer.confirmed();
          case FLUSH_DISK_TIMEOUT -> notDurable(Failure.FLUSH_DISK_TIMEOUT, result, answer);
          case FLUSH_SLAVE_TIMEOUT -> notDurable(Failure.FLUSH_SLAVE_TIMEOUT, result, answer);
          case SLAVE_NOT_AVAILABLE -> notDurable(Failure.SLAVE_NOT_AVAILABLE, result, answer);
        }
      }

      @Override
      public void onException(Throwable failure) {
        report(failure, answer);
      }
    };
  }

  private static void notDurable(Failure failure, SendResult result, Answer answer) {
    answer.failed(failure, "the broker stored it and answered " + result.getSendStatus());
  }

  /** Reports a failed attempt to the answer. */
  static void report(Throwable thrown, Answer answer) {
    // The client wraps failures that occur while it waits for the broker.
    Throwable failure =
        thrown instanceof MQClientException && thrown.getCause() != null
            ? thrown.getCause()
            : thrown;
    String detail = failure.getClass().getSimpleName() + ": " + firstLine(failure);
    int code =
        switch (failure) {
          case MQBrokerException e -> e.getResponseCode();
          case MQClientException e -> e.getResponseCode();
          default -> 0;
        };
    if (code == ResponseCode.MESSAGE_ILLEGAL) {
      answer.refused(detail);
      return;
    }
    if (code == ResponseCode.NO_PERMISSION) {
      answer.failed(Failure.DENIED, detail + DENIED);
      return;
    }
    Failure kind =
        switch (failure) {
          case MQBrokerException e -> Failure.BROKER;
          case RemotingTimeoutException e -> Failure.TIMEOUT;
          case RemotingConnectException e -> Failure.CONNECT;
          default -> Failure.CLIENT;
        };
    answer.failed(kind, detail);
  }

  private static String firstLine(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    return message.lines().findFirst().orElse("");
  }

  @Override
  public List<BrokerQueue> queues() throws IOException {
    List<MessageQueue> queues;
    try {
      queues = producer.fetchPublishMessageQueues(config.topic());
    } catch (MQClientException e) {
      throw new IOException(noRoute(e), e);
    }
    if (queues.isEmpty()) {
      throw new IOException("topic " + config.topic() + " has no writable queue");
    }
    return queues.stream().map(q -> new BrokerQueue(q.getBrokerName(), q.getQueueId())).toList();
  }

  /** Returns why the topic has no queues: the client reports a missing topic in all cases. */
  private String noRoute(MQClientException noQueues) {
    String problem = firstLine(noQueues);
    try {
      if (route(client().getMQClientAPIImpl(), config.topic()).isEmpty()) {
        return "Topic "
            + config.topic()
            + " does not exist at name server "
            + config.nameServer()
            + ", or its brokers are away: start them, or create it with: mqadmin updateTopic -n "
            + config.nameServer()
            + " -c DefaultCluster -t "
            + config.topic()
            + " -r 16 -w 16";
      }
      return "Topic "
          + config.topic()
          + " has no writable queue at name server "
          + config.nameServer()
          + ": start its master brokers, or make the topic writable";
    } catch (MQClientException e) {
      return "Name server "
          + config.nameServer()
          + " refused the route of topic "
          + config.topic()
          + " ("
          + firstLine(e)
          + ")";
    } catch (RemotingException e) {
      problem = firstLine(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return "Cannot reach name server "
        + config.nameServer()
        + " ("
        + problem
        + "): start it or correct rocketmq.name-server"
        + (config.tls().isPresent()
            ? "; it must speak TLS with a certificate that leads to a root in rocketmq.tls-ca-file"
            : "");
  }

  /**
   * Uses the client's internal API, because consumers keep positions only as members of a group.
   */
  @Override
  public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) throws IOException {
    try {
      MQClientAPIImpl api = client().getMQClientAPIImpl();
      Optional<TopicRouteData> route = route(api, topic);
      if (route.isEmpty()) {
        return new DecisionsWatch.Newest(DecisionsWatch.Place.NONE, List.of());
      }
      String broker =
          lowestBroker(route.get())
              .orElseThrow(() -> new IOException("topic " + topic + " has no queue"));
      String address = address(route.get(), broker);
      MessageQueue queue = new MessageQueue(topic, broker, 0);
      DecisionsWatch.Place place =
          new DecisionsWatch.Place(
              broker, api.getMaxOffset(address, queue, config.sendTimeoutMillis()));
      return new DecisionsWatch.Newest(
          place, place.equals(known) ? List.of() : read(api, address, queue, place.end()));
    } catch (MQClientException | MQBrokerException | RemotingException e) {
      throw new IOException("topic " + topic + " cannot be read (" + firstLine(e) + ")", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("topic " + topic + " was not read: interrupted", e);
    }
  }

  private MQClientInstance client() {
    return MQClientManager.getInstance().getOrCreateMQClientInstance(producer, credentials);
  }

  /** Returns the topic's route; empty if the topic does not exist. */
  private Optional<TopicRouteData> route(MQClientAPIImpl api, String topic)
      throws MQClientException, RemotingException, InterruptedException {
    try {
      return Optional.of(api.getTopicRouteInfoFromNameServer(topic, config.sendTimeoutMillis()));
    } catch (MQClientException e) {
      if (e.getResponseCode() == ResponseCode.TOPIC_NOT_EXIST) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns the broker of the lowest queue that is readable and writable; servers write there. */
  static Optional<String> lowestBroker(TopicRouteData route) {
    return route.getQueueDatas().stream()
        .filter(data -> Math.min(data.getReadQueueNums(), data.getWriteQueueNums()) > 0)
        .map(QueueData::getBrokerName)
        .min(Comparator.naturalOrder());
  }

  private static String address(TopicRouteData route, String broker) throws IOException {
    return route.getBrokerDatas().stream()
        .filter(data -> data.getBrokerName().equals(broker))
        .map(BrokerData::selectBrokerAddr)
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(() -> new IOException("no name server knows an address of broker " + broker));
  }

  /**
   * Returns the last messages of a queue; a pull returns about 256 KiB, but at least one message.
   */
  private List<byte[]> read(MQClientAPIImpl api, String address, MessageQueue queue, long end)
      throws MQBrokerException, RemotingException, InterruptedException {
    List<byte[]> bodies = new ArrayList<>();
    long offset = Math.max(0, end - NEWEST_MESSAGES);
    while (offset < end) {
      PullMessageRequestHeader header = new PullMessageRequestHeader();
      // The broker must know the group.
      header.setConsumerGroup(config.producerGroup());
      header.setTopic(queue.getTopic());
      header.setBrokerName(queue.getBrokerName());
      header.setQueueId(queue.getQueueId());
      header.setQueueOffset(offset);
      header.setMaxMsgNums(NEWEST_MESSAGES);
      header.setSysFlag(PullSysFlag.buildSysFlag(false, false, true, false));
      header.setCommitOffset(0L);
      header.setSuspendTimeoutMillis(0L);
      header.setSubscription("*");
      header.setSubVersion(0L);
      header.setExpressionType(ExpressionType.TAG);
      PullResult result =
          api.pullMessage(
              address, header, config.sendTimeoutMillis(), CommunicationMode.SYNC, null);
      if (result.getPullStatus() == PullStatus.FOUND) {
        ByteBuffer messages = ByteBuffer.wrap(((PullResultExt) result).getMessageBinary());
        // Bodies are not decompressed: decisions are uncompressed, and foreign messages could
        // become large.
        for (MessageExt message : MessageDecoder.decodesBatch(messages, true, false, true)) {
          byte[] body = message.getBody();
          // A longer body is no record, and is not kept in memory.
          bodies.add(body == null || body.length > MAX_RECORD_BYTES ? EMPTY : body);
        }
      }
      if (result.getNextBeginOffset() <= offset) {
        return bodies;
      }
      offset = result.getNextBeginOffset();
    }
    return bodies;
  }

  @Override
  public void close() {
    producer.shutdown();
  }
}
