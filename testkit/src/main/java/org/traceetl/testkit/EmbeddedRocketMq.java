package org.traceetl.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.auth.config.AuthConfig;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/**
 * A RocketMQ name server and broker inside this JVM, on free ports of 127.0.0.1, for evaluation and
 * tests. The store and the logs are in the given directory and survive a restart there.
 *
 * <p>Sets the system properties {@code user.home} and {@code rocketmq.home.dir} to that directory,
 * because RocketMQ reads them when its classes load. Start it before any other use of RocketMQ;
 * otherwise the logs go to the directory that the properties named before.
 */
public final class EmbeddedRocketMq implements AutoCloseable {
  /** The name of the broker: the first half of every queue's name. */
  public static final String BROKER = "embedded";

  private static final int COMMIT_LOG_FILE_BYTES = 64 << 20;
  private static final int CONSUME_QUEUE_FILE_BYTES = 20 * 20_000;
  private static final int PULL_BYTES = 4 << 20;

  /** One-span messages are numerous; for batches, consumers request fewer messages. */
  private static final int PULL_MESSAGES = 1_024;

  private static final Duration TOPIC_LIMIT = Duration.ofMinutes(1);
  private static final Duration TOPIC_POLL = Duration.ofMillis(100);

  /**
   * Settings that differ between brokers.
   *
   * @param smallMessages whether messages contain one span: the broker then copies them through the
   *     heap, because a message sent directly to the socket costs a system call
   * @param auth the credentials that the broker requires; null: none
   * @param tls whether the broker uses TLS to the name server, as {@code TlsSystemConfig} says
   */
  public record Settings(boolean smallMessages, AuthConfig auth, boolean tls) {}

  private final Path home;
  private final Settings settings;
  private final NamesrvController namesrv;
  private BrokerController broker;
  private int brokerPort;
  private boolean closed;

  private EmbeddedRocketMq(Path home, Settings settings, NamesrvController namesrv) {
    this.home = home;
    this.settings = settings;
    this.namesrv = namesrv;
  }

  /**
   * Starts both and waits until the broker is registered with the name server.
   *
   * @param directory for the store and the logs; created when absent
   * @throws IOException if the directory or a port is not available, or the store is unreadable
   */
  public static EmbeddedRocketMq start(Path directory) throws IOException {
    return start(directory, new Settings(false, null, false));
  }

  /** Starts both with these settings. */
  public static EmbeddedRocketMq start(Path directory, Settings settings) throws IOException {
    Path home = Files.createDirectories(directory.toAbsolutePath());
    System.setProperty("user.home", home.toString());
    System.setProperty("rocketmq.home.dir", home.toString());
    System.setProperty("rocketmq.log.root", home.resolve("logs").toString());
    NamesrvController namesrv = startNameServer(home, "127.0.0.1", 0);
    EmbeddedRocketMq started = new EmbeddedRocketMq(home, settings, namesrv);
    try {
      started.startBroker();
      return started;
    } finally {
      if (started.broker == null) {
        namesrv.shutdown();
      }
    }
  }

  /** Starts a name server that keeps its files in a directory. */
  static NamesrvController startNameServer(Path home, String address, int port) throws IOException {
    // As RocketMQ's own start classes do. Otherwise the name server takes the broker for version
    // 3.0 and ignores its topics.
    System.setProperty(
        RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));
    NamesrvConfig config = new NamesrvConfig();
    config.setRocketmqHome(home.toString());
    config.setKvConfigPath(home.resolve("namesrv").resolve("kvConfig.json").toString());
    config.setConfigStorePath(home.resolve("namesrv").resolve("namesrv.properties").toString());
    NamesrvController namesrv = new NamesrvController(config, listenOn(address, port));
    boolean started = false;
    try {
      if (!namesrv.initialize()) {
        throw new IOException("The RocketMQ name server did not initialise; see " + home);
      }
      namesrv.start();
      started = true;
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("The RocketMQ name server did not start: " + e, e);
    } finally {
      if (!started) {
        namesrv.shutdown();
      }
    }
    return namesrv;
  }

  /** Starts the broker, on its previous port and store if it was stopped. */
  public void startBroker() throws IOException {
    BrokerConfig config = new BrokerConfig();
    config.setRocketmqHome(home.toString());
    config.setNamesrvAddr(namesrvAddress());
    config.setBrokerName(BROKER);
    config.setBrokerClusterName(BROKER);
    config.setBrokerIP1("127.0.0.1");
    config.setBrokerIP2("127.0.0.1");
    config.setAutoCreateTopicEnable(false);
    // The default of 200 ms refuses sends when the machine is busy.
    config.setWaitTimeMillsInSendQueue(5_000);
    // Until the first interval is over, RocketMQ 5.5.0 waits for it on a whole processor.
    config.setTransactionMetricFlushInterval(100);
    // As in deploy/rocketmq/broker.conf, except for long polling: here consumers need a message at
    // once.
    config.setTransferMsgByHeap(settings.smallMessages);

    MessageStoreConfig store = new MessageStoreConfig();
    store.setStorePathRootDir(home.resolve("store").toString());
    store.setStorePathCommitLog(home.resolve("store").resolve("commitlog").toString());
    store.setFlushDiskType(FlushDiskType.ASYNC_FLUSH);
    store.setHaListenPort(0);
    store.setMappedFileSizeCommitLog(COMMIT_LOG_FILE_BYTES);
    store.setMappedFileSizeConsumeQueue(CONSUME_QUEUE_FILE_BYTES);
    store.setMessageIndexEnable(false);
    store.setTimerWheelEnable(false);
    store.setMaxTransferBytesOnMessageInMemory(PULL_BYTES);
    store.setMaxTransferBytesOnMessageInDisk(PULL_BYTES);
    store.setMaxTransferCountOnMessageInMemory(PULL_MESSAGES);
    store.setMaxTransferCountOnMessageInDisk(PULL_MESSAGES);
    // A demo may run for days on a nearly full disk: keep messages an hour, and refuse late.
    store.setFileReservedTime(1);
    store.setDeleteWhen("00;01;02;03;04;05;06;07;08;09;10;11;12;13;14;15;16;17;18;19;20;21;22;23");
    store.setDiskMaxUsedSpaceRatio(95);
    store.setDiskSpaceWarningLevelRatio(98);
    store.setDiskSpaceCleanForciblyRatio(97);

    NettyClientConfig client = new NettyClientConfig();
    client.setUseTLS(settings.tls);
    BrokerController starting =
        new BrokerController(
            config, listenOn("127.0.0.1", brokerPort), client, store, settings.auth);
    boolean started = false;
    try {
      if (!starting.initialize()) {
        throw new IOException(
            "The embedded RocketMQ broker cannot read its store "
                + store.getStorePathRootDir()
                + "; delete that directory to start with an empty one");
      }
      starting.start();
      started = true;
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("The embedded RocketMQ broker did not start: " + e, e);
    } finally {
      if (!started) {
        starting.shutdown();
      }
    }
    broker = starting;
    brokerPort = starting.getRemotingServer().localListenPort();
  }

  /** Stops the broker; its store stays. */
  public void stopBroker() {
    broker.shutdown();
  }

  BrokerController broker() {
    return broker;
  }

  private static NettyServerConfig listenOn(String address, int port) {
    NettyServerConfig config = new NettyServerConfig();
    config.setBindAddress(address);
    config.setListenPort(port);
    return config;
  }

  /** The name server's address for clients: {@code host:port}. */
  public String namesrvAddress() {
    return "127.0.0.1:" + namesrv.getRemotingServer().localListenPort();
  }

  /**
   * Creates the topic, or gives it this many queues; the name server knows it when this returns.
   *
   * @param queues at least 1
   */
  public void createTopic(String topic, int queues) {
    long startNanos = System.nanoTime();
    do {
      broker.getTopicConfigManager().updateTopicConfig(new TopicConfig(topic, queues, queues));
      broker.registerBrokerAll(true, false, true);
      TopicRouteData route = namesrv.getRouteInfoManager().pickupTopicRouteData(topic);
      if (route != null && route.getQueueDatas().getFirst().getWriteQueueNums() == queues) {
        return;
      }
      // A registration that crosses the broker's own at its start is lost: the name server takes
      // topics only with a newer version of the broker's table.
      LockSupport.parkNanos(TOPIC_POLL.toNanos());
    } while (System.nanoTime() - startNanos < TOPIC_LIMIT.toNanos());
    throw new IllegalStateException("The name server did not take topic " + topic);
  }

  /** Stops both, with the store flushed; takes about 10 seconds. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    // Each waits seconds for its idle threads.
    Thread other = Thread.ofPlatform().name("namesrv-shutdown").start(namesrv::shutdown);
    broker.shutdown();
    try {
      other.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
