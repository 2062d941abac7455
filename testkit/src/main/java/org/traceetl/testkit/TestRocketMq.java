package org.traceetl.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.util.concurrent.Uninterruptibles;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.auth.authentication.enums.UserType;
import org.apache.rocketmq.auth.authentication.model.User;
import org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider;
import org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider;
import org.apache.rocketmq.auth.authorization.enums.Decision;
import org.apache.rocketmq.auth.authorization.enums.PolicyType;
import org.apache.rocketmq.auth.authorization.model.Acl;
import org.apache.rocketmq.auth.authorization.model.Policy;
import org.apache.rocketmq.auth.authorization.model.PolicyEntry;
import org.apache.rocketmq.auth.authorization.model.Resource;
import org.apache.rocketmq.auth.authorization.provider.DefaultAuthorizationProvider;
import org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider;
import org.apache.rocketmq.auth.config.AuthConfig;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.longpolling.ManyPullRequest;
import org.apache.rocketmq.broker.longpolling.PullRequestHoldService;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.action.Action;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.MessageStore;
import org.apache.rocketmq.store.PutMessageStatus;
import org.apache.rocketmq.store.exception.ConsumeQueueException;
import org.rocksdb.RocksDBException;

/** An embedded RocketMQ for a test, with a producer and access to the broker's store. */
public final class TestRocketMq implements AutoCloseable {
  public static final String BROKER = EmbeddedRocketMq.BROKER;

  /** The password of all users. */
  public static final String PASSWORD = "hunter2";

  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final EmbeddedRocketMq rocketMq;
  private final DefaultMQProducer producer;

  /**
   * The credentials that a broker requires.
   *
   * @param admin a user with all rights, with which broker and producer sign
   * @param rights whether users need rights
   */
  public record Auth(String admin, boolean rights) {
    private AuthConfig config(Path home) {
      AuthConfig config = new AuthConfig();
      // RocketMQ caches users by this name in the whole JVM.
      config.setConfigName(UUID.randomUUID().toString());
      config.setClusterName("DefaultCluster");
      config.setAuthConfigPath(home.resolve("auth").toString());
      config.setAuthenticationEnabled(true);
      config.setAuthenticationProvider(DefaultAuthenticationProvider.class.getName());
      config.setAuthenticationMetadataProvider(LocalAuthenticationMetadataProvider.class.getName());
      config.setAuthorizationEnabled(rights);
      config.setAuthorizationProvider(DefaultAuthorizationProvider.class.getName());
      config.setAuthorizationMetadataProvider(LocalAuthorizationMetadataProvider.class.getName());
      config.setInitAuthenticationUser(
          "{\"username\":\"%s\",\"password\":\"%s\"}".formatted(admin, PASSWORD));
      config.setInnerClientAuthenticationCredentials(
          "{\"accessKey\":\"%s\",\"secretKey\":\"%s\"}".formatted(admin, PASSWORD));
      return config;
    }
  }

  /** Starts name server and broker in a directory, without security. */
  public TestRocketMq(Path home) throws Exception {
    this(home, null, false);
  }

  /**
   * Starts name server and broker.
   *
   * @param auth the credentials that the broker requires; null: none
   * @param tls whether broker and producer use TLS
   */
  public TestRocketMq(Path home, Auth auth, boolean tls) throws Exception {
    System.setProperty("rocketmq.log.level", "WARN");
    rocketMq =
        EmbeddedRocketMq.start(
            home,
            new EmbeddedRocketMq.Settings(false, auth == null ? null : auth.config(home), tls));
    producer =
        new DefaultMQProducer(
            "test-producer",
            auth == null
                ? null
                : new AclClientRPCHook(new SessionCredentials(auth.admin, PASSWORD)));
    producer.setNamesrvAddr(namesrvAddress());
    producer.setInstanceName("test-producer-" + System.nanoTime());
    producer.setUseTLS(tls);
    producer.start();
  }

  public String namesrvAddress() {
    return rocketMq.namesrvAddress();
  }

  public void createTopic(String topic, int queues) {
    rocketMq.createTopic(topic, queues);
  }

  /** Stops the broker; its store stays. */
  public void stopBroker() {
    rocketMq.stopBroker();
  }

  /** Starts the broker again, on its port and store. */
  public void startBroker() throws Exception {
    rocketMq.startBroker();
  }

  private BrokerController broker() {
    return rocketMq.broker();
  }

  /**
   * Creates a user with these rights.
   *
   * @param rights actions by resource, such as {@code Topic:trace-spans}
   */
  public void createUser(String name, Map<String, List<Action>> rights) {
    broker()
        .getAuthenticationMetadataManager()
        .createUser(User.of(name, PASSWORD, UserType.NORMAL))
        .join();
    List<PolicyEntry> entries = new ArrayList<>();
    rights.forEach((resource, actions) ->
        entries.add(PolicyEntry.of(Resource.of(resource), actions, null, Decision.ALLOW)));
    broker()
        .getAuthorizationMetadataManager()
        .createAcl(Acl.of(User.of(name), Policy.of(PolicyType.CUSTOM, entries)))
        .join();
  }

  public void send(String topic, int queue, byte[] body) throws Exception {
    send(topic, queue, body, Map.of());
  }

  /** Sends a message with user properties to one queue. */
  public void send(String topic, int queue, byte[] body, Map<String, String> properties)
      throws Exception {
    Message message = new Message(topic, body);
    properties.forEach(message::putUserProperty);
    long startNanos = System.nanoTime();
    while (true) {
      try {
        producer.send(message, new MessageQueue(topic, BROKER, queue), 10_000);
        return;
      } catch (MQClientException e) {
        // Nothing was sent: on a slow machine the client may not know the broker yet.
        if (System.nanoTime() - startNanos > LIMIT.toNanos()) {
          throw e;
        }
        Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(100));
      }
    }
  }

  /** Returns the bodies of all messages of the topic, as text. */
  public List<String> bodies(String topic, int queues) throws Exception {
    return messages(topic, queues).stream().map(body -> new String(body, UTF_8)).toList();
  }

  /** Returns the bodies of all messages of the topic. */
  public List<byte[]> messages(String topic, int queues) throws Exception {
    List<byte[]> bodies = new ArrayList<>();
    for (int queue = 0; queue < queues; queue++) {
      bodies.addAll(messagesOf(topic, queue));
    }
    return bodies;
  }

  /** Returns the bodies of all messages of a queue, in order. */
  public List<byte[]> messagesOf(String topic, int queue) throws Exception {
    MessageStore store = broker().getMessageStore();
    List<byte[]> bodies = new ArrayList<>();
    long offset = 0;
    while (offset < store.getMaxOffsetInQueue(topic, queue)) {
      GetMessageResult result = store.getMessage("test", topic, queue, offset, 32, null);
      for (ByteBuffer buffer : result.getMessageBufferList()) {
        bodies.add(MessageDecoder.decode(buffer).getBody());
      }
      result.release();
      offset = result.getNextBeginOffset();
    }
    return bodies;
  }

  /** Stores a message with these system flags, which a producer would set itself. */
  public void store(String topic, int queue, byte[] body, int flags) {
    store(topic, queue, body, flags, broker().getStoreHost());
  }

  /** Stores a message as one that another master had stored and this replica copied. */
  public void storeAsAnotherMaster(String topic, int queue, byte[] body) {
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
    PutMessageStatus status = broker().getMessageStore().putMessage(message).getPutMessageStatus();
    if (status != PutMessageStatus.PUT_OK) {
      throw new IllegalStateException("The broker did not store the message: " + status);
    }
  }

  /**
   * Waits until the broker holds a client's pull of a queue: it is answered when a message has this
   * offset.
   */
  public void awaitPull(String topic, int queue, long offset) {
    try {
      Field held = PullRequestHoldService.class.getDeclaredField("pullRequestTable");
      held.setAccessible(true);
      Map<?, ?> byQueue = (Map<?, ?>) held.get(broker().getPullRequestHoldService());
      long startNanos = System.nanoTime();
      while (!(byQueue.get(topic + "@" + queue) instanceof ManyPullRequest pulls
          && has(pulls, offset))) {
        if (System.nanoTime() - startNanos > LIMIT.toNanos()) {
          throw new IllegalStateException("No client pulls from offset " + offset);
        }
        Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(20));
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean has(ManyPullRequest pulls, long offset) {
    // Its own methods lock it.
    synchronized (pulls) {
      return pulls.getPullRequestList().stream()
          .anyMatch(pull -> pull.getPullFromThisOffset() == offset);
    }
  }

  /**
   * Drops a queue's messages from an offset on, and all messages stored after that one. This
   * happens if a replica that was behind becomes the master.
   */
  public void loseFrom(String topic, int queue, long offset) {
    MessageStore store = broker().getMessageStore();
    try {
      long startNanos = System.nanoTime();
      while (store.getMaxOffsetInQueue(topic, queue) <= offset
          || store.dispatchBehindBytes() != 0) {
        if (System.nanoTime() - startNanos > LIMIT.toNanos()) {
          throw new IllegalStateException("The broker did not store offset " + offset);
        }
        Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(20));
      }
      long place = store.getConsumeQueue(topic, queue).get(offset).getPos();
      if (!((DefaultMessageStore) store).truncateFiles(place)) {
        throw new IllegalStateException("The broker did not drop what follows " + place);
      }
    } catch (RocksDBException | ConsumeQueueException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Delays the broker's answers about the members of a consumer group, with which each rebalance
   * begins, until the gate opens.
   */
  public CountDownLatch holdRebalances() {
    CountDownLatch gate = new CountDownLatch(1);
    broker()
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

  public void commit(String group, String topic, int queue, long offset) {
    broker().getConsumerOffsetManager().commitOffset("test", group, topic, queue, offset);
  }

  /** Returns the group's committed offset, or -1. */
  public long committed(String group, String topic, int queue) {
    return broker().getConsumerOffsetManager().queryOffset(group, topic, queue);
  }

  @Override
  public void close() {
    producer.shutdown();
    rocketMq.close();
  }
}
