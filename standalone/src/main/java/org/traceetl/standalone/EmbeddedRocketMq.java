package org.traceetl.standalone;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/**
 * A RocketMQ name server and broker inside this JVM, on free ports of 127.0.0.1, for evaluation and
 * tests. The store and the logs live in the given directory and survive a restart there.
 *
 * <p>Sets the system properties {@code user.home} and {@code rocketmq.home.dir} to that directory,
 * because RocketMQ reads them when its classes load; so it must start before anything else of
 * RocketMQ is touched, or its logs go where they went before.
 *
 * <p>One for the life of a JVM: RocketMQ has state of the process, and a second broker's topics do
 * not reach its name server.
 */
public final class EmbeddedRocketMq implements AutoCloseable {
  /** What the broker calls itself: the first half of every queue's name. */
  public static final String BROKER = "embedded";

  private static final int COMMIT_LOG_FILE_BYTES = 64 << 20;
  private static final int PULL_BYTES = 4 * 1024 * 1024;

  /** Messages of one span are many; batches are asked for by fewer. */
  private static final int PULL_MESSAGES = 1_024;

  private static final int CONSUME_QUEUE_FILE_BYTES = 20 * 20_000;

  private static final AtomicBoolean STARTED = new AtomicBoolean();

  private final NamesrvController namesrv;
  private final BrokerController broker;
  private boolean closed;

  private EmbeddedRocketMq(NamesrvController namesrv, BrokerController broker) {
    this.namesrv = namesrv;
    this.broker = broker;
  }

  /**
   * Starts both and waits until the broker is registered with the name server.
   *
   * @param directory for the store and the logs; created when absent
   * @throws IOException when the directory or a port cannot be had, or the store in it cannot be
   *     read
   * @throws IllegalStateException the second time in a JVM
   */
  public static EmbeddedRocketMq start(Path directory) throws IOException {
    return start(directory, false);
  }

  /**
   * Starts both.
   *
   * @param smallMessages whether topics are of messages of one span: these are answered by way of
   *     the heap, for a message that goes straight to the socket costs a system call of its own
   */
  public static EmbeddedRocketMq start(Path directory, boolean smallMessages) throws IOException {
    if (STARTED.getAndSet(true)) {
      throw new IllegalStateException("this JVM has had its embedded RocketMQ");
    }
    Path home = Files.createDirectories(directory.toAbsolutePath());
    System.setProperty("user.home", home.toString());
    System.setProperty("rocketmq.home.dir", home.toString());
    System.setProperty("rocketmq.log.root", home.resolve("logs").toString());
    // As RocketMQ's own start classes do: without it the name server takes the broker for one of
    // version 3.0 and ignores its topics.
    System.setProperty(
        RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));

    NamesrvController namesrv = startNamesrv(home);
    BrokerController broker = null;
    try {
      int port = namesrv.getNettyServerConfig().getListenPort();
      broker = startBroker(home, port, smallMessages);
      return new EmbeddedRocketMq(namesrv, broker);
    } finally {
      if (broker == null) {
        namesrv.shutdown();
      }
    }
  }

  private static NamesrvController startNamesrv(Path home) throws IOException {
    NamesrvConfig config = new NamesrvConfig();
    config.setRocketmqHome(home.toString());
    config.setKvConfigPath(home.resolve("namesrv").resolve("kvConfig.json").toString());
    config.setConfigStorePath(home.resolve("namesrv").resolve("namesrv.properties").toString());
    NamesrvController namesrv = new NamesrvController(config, anyPort());
    try {
      if (!namesrv.initialize()) {
        throw new IOException("the embedded RocketMQ name server did not initialise; see " + home);
      }
      namesrv.start();
    } catch (IOException e) {
      namesrv.shutdown();
      throw e;
    } catch (Exception e) {
      namesrv.shutdown();
      throw new IOException("the embedded RocketMQ name server did not start: " + e, e);
    }
    namesrv.getNettyServerConfig().setListenPort(namesrv.getRemotingServer().localListenPort());
    return namesrv;
  }

  private static BrokerController startBroker(Path home, int namesrvPort, boolean smallMessages)
      throws IOException {
    BrokerConfig config = new BrokerConfig();
    config.setRocketmqHome(home.toString());
    config.setNamesrvAddr("127.0.0.1:" + namesrvPort);
    config.setBrokerName(BROKER);
    config.setBrokerClusterName(BROKER);
    config.setBrokerIP1("127.0.0.1");
    config.setBrokerIP2("127.0.0.1");
    config.setAutoCreateTopicEnable(false);
    // The default of 200 ms refuses sends when the machine is busy.
    config.setWaitTimeMillsInSendQueue(5_000);
    // Until the first interval is over, RocketMQ 5.5.0 waits for it on a whole processor.
    config.setTransactionMetricFlushInterval(100);
    // As in deploy/rocketmq/broker.conf, but for long polling: here a message is wanted at once.
    config.setTransferMsgByHeap(smallMessages);

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
    // A demo may run for days on a disk that is nearly full: keep an hour, and refuse late.
    store.setFileReservedTime(1);
    store.setDeleteWhen("00;01;02;03;04;05;06;07;08;09;10;11;12;13;14;15;16;17;18;19;20;21;22;23");
    store.setDiskMaxUsedSpaceRatio(95);
    store.setDiskSpaceWarningLevelRatio(98);
    store.setDiskSpaceCleanForciblyRatio(97);

    BrokerController broker =
        new BrokerController(config, anyPort(), new NettyClientConfig(), store);
    boolean started = false;
    try {
      if (!broker.initialize()) {
        throw new IOException(
            "the embedded RocketMQ broker cannot read its store "
                + store.getStorePathRootDir()
                + "; remove that directory to begin with an empty one");
      }
      broker.start();
      started = true;
      return broker;
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("the embedded RocketMQ broker did not start: " + e, e);
    } finally {
      if (!started) {
        broker.shutdown();
      }
    }
  }

  private static NettyServerConfig anyPort() {
    NettyServerConfig config = new NettyServerConfig();
    config.setBindAddress("127.0.0.1");
    config.setListenPort(0);
    return config;
  }

  /** What clients take as name server: {@code host:port}. */
  public String namesrvAddress() {
    return "127.0.0.1:" + namesrv.getNettyServerConfig().getListenPort();
  }

  /**
   * Creates the topic, or gives it this many queues; known to the name server when this returns.
   *
   * @param queues at least 1
   */
  public void createTopic(String topic, int queues) {
    TopicConfig config = new TopicConfig(topic, queues, queues);
    broker.getTopicConfigManager().updateTopicConfig(config);
    broker.registerBrokerAll(true, false, true);
  }

  /** Stops both, with the store flushed; takes about 10 seconds. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    // Each waits seconds for its idle threads to look up.
    Thread other = Thread.ofPlatform().name("namesrv-shutdown").start(namesrv::shutdown);
    broker.shutdown();
    try {
      other.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
