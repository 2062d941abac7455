package org.traceetl.perf.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** RocketMQ as two programs, a name server and a broker, that only this machine reaches. */
public final class RocketMq {
  private static final String CLUSTER = "perf";

  private final Path directory;
  private final String address;
  private final Program nameServer;
  private final Program broker;

  /**
   * Chooses ports and writes the broker's configuration.
   *
   * @param directory gets their files and logs
   * @param brokerOptions of the broker's JVM
   * @param settings of the broker, beside its addresses and directories
   */
  public RocketMq(Path directory, Ports ports, List<String> brokerOptions, Map<String, ?> settings)
      throws IOException {
    this.directory = directory;
    int port = ports.next();
    address = "127.0.0.1:" + port;
    nameServer = nameServer(port);
    // The broker opens the port two below as well, and the one above.
    broker = broker(ports.next(2, 1), brokerOptions, settings);
  }

  private Program nameServer(int port) throws IOException {
    List<String> command =
        java(
            "name-server", List.of("-Xmx128m", "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC"));
    command.addAll(
        List.of(
            NameServer.class.getName(),
            Integer.toString(port),
            directory.resolve("name-server").toString(),
            "127.0.0.1"));
    return new Program("name-server", command, Map.of(), log("name-server"), null);
  }

  private Program broker(int port, List<String> options, Map<String, ?> more) throws IOException {
    Path home = Files.createDirectories(directory.resolve("broker"));
    Path config = home.resolve("broker.conf");
    Map<String, Object> settings = new TreeMap<>(more);
    settings.put("listenPort", port);
    settings.put("bindAddress", "127.0.0.1");
    settings.put("brokerName", "broker-a");
    settings.put("brokerClusterName", CLUSTER);
    settings.put("brokerIP1", "127.0.0.1");
    settings.put("brokerIP2", "127.0.0.1");
    settings.put("namesrvAddr", address);
    settings.put("storePathRootDir", home.resolve("store"));
    settings.put("storePathCommitLog", home.resolve("store").resolve("commitlog"));
    Files.write(
        config,
        settings.entrySet().stream()
            .map(setting -> setting.getKey() + "=" + setting.getValue())
            .toList());
    List<String> command = java("broker", options);
    command.addAll(List.of("org.apache.rocketmq.broker.BrokerStartup", "-c", config.toString()));
    return new Program("broker", command, Map.of(), log("broker"), null);
  }

  private List<String> java(String name, List<String> options) throws IOException {
    Path home = Files.createDirectories(directory.resolve(name));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Duser.home=" + home,
            "-Drocketmq.home.dir=" + home,
            "-Drocketmq.log.root=" + home.resolve("rocketmq-log"),
            "-cp",
            System.getProperty("java.class.path")));
    return command;
  }

  private Path log(String name) {
    return directory.resolve(name + ".log");
  }

  public Program nameServer() {
    return nameServer;
  }

  public Program broker() {
    return broker;
  }

  /** What clients take as name server: {@code host:port}. */
  public String address() {
    return address;
  }

  /** Starts both and makes the topics that an installation needs, with so many queues each. */
  public void start(int queues) throws IOException, InterruptedException {
    nameServer.start();
    broker.start();
    makeTopic("trace-spans", queues);
    makeTopic("trace-windows", queues);
  }

  /** With it hotspots are decided on; to be made when both are started. */
  public void makeDecisionsTopic() throws IOException, InterruptedException {
    makeTopic("trace-routing", 1);
  }

  /** Makes one more topic; to be called when both are started. */
  public void makeTopic(String topic, int queues) throws IOException, InterruptedException {
    try {
      new Topics(address, CLUSTER).make(topic, queues, broker::isRunning);
    } catch (IOException e) {
      throw new IOException(e.getMessage() + "; see " + broker.log(), e);
    }
  }
}
