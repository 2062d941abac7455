package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.rocketmq.auth.authentication.enums.UserType;
import org.apache.rocketmq.auth.authentication.model.User;
import org.apache.rocketmq.auth.authorization.enums.Decision;
import org.apache.rocketmq.auth.authorization.enums.PolicyType;
import org.apache.rocketmq.auth.authorization.model.Acl;
import org.apache.rocketmq.auth.authorization.model.Policy;
import org.apache.rocketmq.auth.authorization.model.PolicyEntry;
import org.apache.rocketmq.auth.authorization.model.Resource;
import org.apache.rocketmq.auth.config.AuthConfig;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.action.Action;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** A real RocketMQ name server and broker in this JVM; the broker can go away and come back. */
public final class TestBroker implements AutoCloseable {
  private final Path home;
  private final Optional<AuthConfig> auth;
  private final boolean tls;
  private final NamesrvController namesrv;
  private BrokerController broker;
  private int brokerPort;

  /** Starts both. To be called before any class of RocketMQ is loaded: it sets where they log. */
  public TestBroker(Path home) throws Exception {
    this(home, Optional.empty(), false);
  }

  /**
   * As above.
   *
   * @param auth which keys are asked for; empty: none
   * @param tls whether the broker speaks TLS with the name server, as {@code TlsSystemConfig} says
   */
  public TestBroker(Path home, Optional<AuthConfig> auth, boolean tls) throws Exception {
    this.home = Files.createDirectories(home);
    this.auth = auth;
    this.tls = tls;
    System.setProperty("user.home", home.toString());
    System.setProperty("rocketmq.home.dir", home.toString());
    System.setProperty("rocketmq.log.root", home.resolve("logs").toString());
    System.setProperty("rocketmq.log.level", "WARN");
    System.setProperty(
        RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));
    NamesrvConfig config = new NamesrvConfig();
    config.setRocketmqHome(home.toString());
    config.setKvConfigPath(home.resolve("kvConfig.json").toString());
    config.setConfigStorePath(home.resolve("namesrv.properties").toString());
    namesrv = new NamesrvController(config, listenOn(0));
    if (!namesrv.initialize()) {
      throw new IllegalStateException("the name server does not initialise");
    }
    namesrv.start();
    startBroker();
  }

  /** Starts the broker, on its last port and store if it was there before. */
  public void startBroker() throws Exception {
    BrokerConfig config = new BrokerConfig();
    config.setRocketmqHome(home.toString());
    config.setNamesrvAddr(namesrvAddress());
    config.setBrokerName("broker-a");
    config.setBrokerIP1("127.0.0.1");
    config.setBrokerIP2("127.0.0.1");
    config.setAutoCreateTopicEnable(false);
    config.setWaitTimeMillsInSendQueue(5_000);
    // Until the first interval is over, RocketMQ 5.5.0 waits for it on a whole processor.
    config.setTransactionMetricFlushInterval(100);
    MessageStoreConfig store = new MessageStoreConfig();
    store.setStorePathRootDir(home.resolve("store").toString());
    store.setStorePathCommitLog(home.resolve("store/commitlog").toString());
    store.setHaListenPort(0);
    store.setMappedFileSizeCommitLog(16 << 20);
    store.setMessageIndexEnable(false);
    store.setTimerWheelEnable(false);
    store.setDiskMaxUsedSpaceRatio(95);
    NettyClientConfig client = new NettyClientConfig();
    client.setUseTLS(tls);
    broker =
        new BrokerController(
            config, listenOn(brokerPort), client, store, auth.orElseGet(AuthConfig::new));
    if (!broker.initialize()) {
      throw new IllegalStateException("the broker does not initialise");
    }
    broker.start();
    brokerPort = broker.getRemotingServer().localListenPort();
  }

  /** Makes a user who may nothing yet. */
  public void createUser(String name, String password) {
    broker
        .getAuthenticationMetadataManager()
        .createUser(User.of(name, password, UserType.NORMAL))
        .join();
  }

  /**
   * Gives a user these rights, where the broker asks for some.
   *
   * @param rights actions by resource, such as {@code Topic:trace-spans}
   */
  public void allow(String user, Map<String, List<Action>> rights) {
    List<PolicyEntry> entries = new ArrayList<>();
    rights.forEach((resource, actions) ->
        entries.add(PolicyEntry.of(Resource.of(resource), actions, null, Decision.ALLOW)));
    broker
        .getAuthorizationMetadataManager()
        .createAcl(Acl.of(User.of(user), Policy.of(PolicyType.CUSTOM, entries)))
        .join();
  }

  /** Takes the broker away; what it has stored stays. */
  public void stopBroker() {
    broker.shutdown();
  }

  /** Creates a topic, known to the name server at once. */
  public void createTopic(String topic, int queues) {
    broker.getTopicConfigManager().updateTopicConfig(new TopicConfig(topic, queues, queues));
    broker.registerBrokerAll(true, false, true);
  }

  public String namesrvAddress() {
    return "127.0.0.1:" + namesrv.getRemotingServer().localListenPort();
  }

  /** The bodies of all messages of the topic, as text. */
  public List<String> bodies(String topic, int queues) throws Exception {
    return messages(topic, queues).stream().map(body -> new String(body, UTF_8)).toList();
  }

  /** The bodies of all messages of the topic. */
  public List<byte[]> messages(String topic, int queues) throws Exception {
    List<byte[]> bodies = new ArrayList<>();
    for (int queue = 0; queue < queues; queue++) {
      bodies.addAll(messagesOf(topic, queue));
    }
    return bodies;
  }

  /** The bodies of all messages of a queue, in their order. */
  public List<byte[]> messagesOf(String topic, int queue) throws Exception {
    List<byte[]> bodies = new ArrayList<>();
    long offset = 0;
    while (offset < broker.getMessageStore().getMaxOffsetInQueue(topic, queue)) {
      GetMessageResult result =
          broker.getMessageStore().getMessage("test", topic, queue, offset, 32, null);
      for (ByteBuffer buffer : result.getMessageBufferList()) {
        bodies.add(MessageDecoder.decode(buffer).getBody());
      }
      result.release();
      offset = result.getNextBeginOffset();
    }
    return bodies;
  }

  /** Stores messages in the first queue of the topic. */
  public void send(String topic, List<byte[]> bodies) throws Exception {
    send(topic, bodies, null);
  }

  /** As above, with credentials, or null. */
  public void send(String topic, List<byte[]> bodies, RPCHook credentials) throws Exception {
    DefaultMQProducer producer = new DefaultMQProducer("test-broker", credentials);
    producer.setNamesrvAddr(namesrvAddress());
    producer.setInstanceName("test-broker-" + System.nanoTime());
    producer.start();
    try {
      MessageQueue first = new MessageQueue(topic, broker.getBrokerConfig().getBrokerName(), 0);
      for (byte[] body : bodies) {
        // Thrown before anything is sent: on a slow machine the client may not know the broker yet.
        await()
            .atMost(Duration.ofMinutes(1))
            .ignoreExceptionsInstanceOf(MQClientException.class)
            .until(() -> producer.send(new Message(topic, body), first) != null);
      }
    } finally {
      producer.shutdown();
    }
  }

  private static NettyServerConfig listenOn(int port) {
    NettyServerConfig config = new NettyServerConfig();
    config.setBindAddress("127.0.0.1");
    config.setListenPort(port);
    return config;
  }

  @Override
  public void close() {
    broker.shutdown();
    namesrv.shutdown();
  }
}
