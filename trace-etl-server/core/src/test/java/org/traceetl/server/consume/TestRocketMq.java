package org.traceetl.server.consume;

import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
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
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.action.Action;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.MessageStore;
import org.apache.rocketmq.store.PutMessageStatus;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.rocksdb.RocksDBException;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.rocketmq.RocketMqAccess;

/** A real name server and broker in this JVM, on free ports, with a producer. */
public final class TestRocketMq implements AutoCloseable {
  public static final String BROKER = "test-broker";

  private final NamesrvController namesrv;
  private final BrokerController broker;
  private final DefaultMQProducer producer;

  /**
   * Starts them.
   *
   * @param home for the store and RocketMQ's own logs
   */
  public TestRocketMq(Path home) throws Exception {
    this(home, new AuthConfig(), new RocketMqConfig(null, null, null, null, null, null));
  }

  /**
   * Starts them.
   *
   * @param auth which keys the broker asks for
   * @param access keys and TLS with which the broker and the producer speak
   */
  public TestRocketMq(Path home, AuthConfig auth, RocketMqConfig access) throws Exception {
    System.setProperty("user.home", home.toString());
    System.setProperty("rocketmq.home.dir", home.toString());
    // Without it the name server takes the broker for one of version 3.0 and ignores its topics.
    System.setProperty(
        RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));

    NamesrvConfig namesrvConfig = new NamesrvConfig();
    namesrvConfig.setRocketmqHome(home.toString());
    namesrvConfig.setKvConfigPath(home.resolve("kvConfig.json").toString());
    namesrv = new NamesrvController(namesrvConfig, anyPort());
    require(namesrv.initialize(), "name server");
    namesrv.start();

    BrokerConfig config = new BrokerConfig();
    config.setRocketmqHome(home.toString());
    config.setNamesrvAddr(namesrvAddress());
    config.setBrokerName(BROKER);
    config.setBrokerIP1("127.0.0.1");
    config.setBrokerIP2("127.0.0.1");
    config.setAutoCreateTopicEnable(false);
    config.setWaitTimeMillsInSendQueue(5_000);
    // Until the first interval is over, RocketMQ 5.5.0 waits for it on a whole processor.
    config.setTransactionMetricFlushInterval(100);
    MessageStoreConfig store = new MessageStoreConfig();
    store.setStorePathRootDir(home.resolve("store").toString());
    store.setStorePathCommitLog(home.resolve("store").resolve("commitlog").toString());
    store.setMappedFileSizeCommitLog(32 << 20);
    store.setMappedFileSizeConsumeQueue(20 * 20_000);
    store.setHaListenPort(0);
    store.setMessageIndexEnable(false);
    store.setTimerWheelEnable(false);
    store.setDiskMaxUsedSpaceRatio(95);
    NettyClientConfig client = new NettyClientConfig();
    client.setUseTLS(access.tls());
    broker = new BrokerController(config, anyPort(), client, store, auth);
    require(broker.initialize(), "broker");
    broker.start();

    producer = new DefaultMQProducer("test-producer", RocketMqAccess.hook(access));
    producer.setNamesrvAddr(namesrvAddress());
    RocketMqAccess.secure(producer, access);
    producer.start();
  }

  private static void require(boolean initialized, String what) throws IOException {
    if (!initialized) {
      throw new IOException("the " + what + " did not initialise");
    }
  }

  private static NettyServerConfig anyPort() {
    NettyServerConfig config = new NettyServerConfig();
    config.setBindAddress("127.0.0.1");
    config.setListenPort(0);
    return config;
  }

  public String namesrvAddress() {
    return "127.0.0.1:" + namesrv.getRemotingServer().localListenPort();
  }

  public void createTopic(String topic, int queues) {
    TopicConfig config = new TopicConfig(topic, queues, queues);
    // Registering takes a moment, and one that crosses the broker's own at its start is lost: the
    // name server takes topics only with a newer version of the broker's table.
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(500))
        .pollDelay(Duration.ZERO)
        .ignoreExceptions()
        .until(() -> {
          broker.getTopicConfigManager().updateTopicConfig(config);
          broker.registerBrokerAll(true, false, true);
          return producer.fetchPublishMessageQueues(topic).size() == queues;
        });
  }

  /**
   * Makes a user who may do this, where the broker asks for it.
   *
   * @param rights actions by resource, such as {@code Topic:trace-spans}
   */
  public void createUser(String name, String password, Map<String, List<Action>> rights) {
    broker
        .getAuthenticationMetadataManager()
        .createUser(User.of(name, password, UserType.NORMAL))
        .join();
    List<PolicyEntry> entries = new ArrayList<>();
    rights.forEach((resource, actions) ->
        entries.add(PolicyEntry.of(Resource.of(resource), actions, null, Decision.ALLOW)));
    broker
        .getAuthorizationMetadataManager()
        .createAcl(Acl.of(User.of(name), Policy.of(PolicyType.CUSTOM, entries)))
        .join();
  }

  public void send(String topic, int queue, byte[] body) throws Exception {
    producer.send(new Message(topic, body), new MessageQueue(topic, BROKER, queue), 10_000);
  }

  /** Stores a message with these system flags, which a producer would choose itself. */
  void store(String topic, int queue, byte[] body, int flags) {
    store(topic, queue, body, flags, broker.getStoreHost());
  }

  /** Stores a message as one that another master had stored and this replica copied. */
  void storeAsAnotherMaster(String topic, int queue, byte[] body) {
    store(topic, queue, body, 0, new InetSocketAddress("127.0.0.2", 1));
  }

  private void store(String topic, int queue, byte[] body, int flags, SocketAddress master) {
    MessageExtBrokerInner message = new MessageExtBrokerInner();
    message.setTopic(topic);
    message.setQueueId(queue);
    message.setBody(body);
    message.setSysFlag(flags);
    message.setBornTimestamp(System.currentTimeMillis());
    message.setBornHost(new InetSocketAddress("127.0.0.1", 1));
    message.setStoreHost(master);
    MessageAccessor.setProperties(message, new HashMap<>());
    message.setPropertiesString("");
    PutMessageStatus status = broker.getMessageStore().putMessage(message).getPutMessageStatus();
    if (status != PutMessageStatus.PUT_OK) {
      throw new IllegalStateException("the broker did not store it: " + status);
    }
  }

  /**
   * The broker loses a queue's messages from an offset on, and all that it stored after that one,
   * as a replica does that was behind when it became the master.
   */
  void loseFrom(String topic, int queue, long offset) {
    MessageStore store = broker.getMessageStore();
    await()
        .until(() ->
            store.getMaxOffsetInQueue(topic, queue) > offset && store.dispatchBehindBytes() == 0);
    long place = store.getConsumeQueue(topic, queue).get(offset).getPos();
    try {
      if (!((DefaultMessageStore) store).truncateFiles(place)) {
        throw new IllegalStateException("the broker did not drop what is after " + place);
      }
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Keeps the broker from saying who is in a consumer group, which each rebalance begins with,
   * until the gate is opened.
   */
  CountDownLatch holdRebalances() {
    CountDownLatch gate = new CountDownLatch(1);
    broker
        .getRemotingServer()
        .registerRPCHook(
            new RPCHook() {
              @Override
              public void doBeforeRequest(String client, RemotingCommand request) {
                if (request.getCode() == RequestCode.GET_CONSUMER_LIST_BY_GROUP) {
                  Uninterruptibles.awaitUninterruptibly(gate);
                }
              }

              @Override
              public void doAfterResponse(
                  String client, RemotingCommand request, RemotingCommand response) {}
            });
    return gate;
  }

  void commit(String group, String topic, int queue, long offset) {
    broker.getConsumerOffsetManager().commitOffset("test", group, topic, queue, offset);
  }

  /** The group's committed offset, or -1. */
  long committed(String group, String topic, int queue) {
    return broker.getConsumerOffsetManager().queryOffset(group, topic, queue);
  }

  @Override
  public void close() {
    producer.shutdown();
    broker.shutdown();
    namesrv.shutdown();
  }
}
