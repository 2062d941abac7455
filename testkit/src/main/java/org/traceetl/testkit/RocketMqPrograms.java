package org.traceetl.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.apache.rocketmq.client.exception.MQClientException;

/**
 * RocketMQ as programs that only this machine reaches: a name server and a broker. With replicas
 * there are also three controllers and a second, replicated broker. For one thread.
 */
public final class RocketMqPrograms implements AutoCloseable {
  private static final String CLUSTER = "perf";
  private static final String REPLICATED_NAME = "broker-a";
  private static final int CONTROLLERS = 3;
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  /**
   * How brokers are replicated.
   *
   * @param replicas of the first broker name, including the master
   * @param alone settings of the broker without replicas, in addition to those of all brokers
   * @param replica settings of each replica, in addition to those of all brokers
   * @param controller settings of each controller
   * @param network provides a host for each replica and controller; null: all on the loopback
   */
  public record Replication(
      int replicas,
      Map<String, ?> alone,
      Map<String, ?> replica,
      Map<String, ?> controller,
      Network network) {
    /** Returns the number of hosts that the network needs for these replicas. */
    public static int hosts(int replicas) {
      return CONTROLLERS + replicas;
    }
  }

  private record Replica(Program program, Network.Host host, int port) {
    String address() {
      return host.address() + ":" + port;
    }
  }

  private final Path directory;
  private final Replication replication;
  private final Network.Host machine;
  private final String address;
  private final Program nameServer;
  private final List<Replica> controllers = new ArrayList<>();
  private final List<Replica> replicas = new ArrayList<>();
  private final Program broker;
  private ReplicaSet replicaSet;
  private Replica lastMaster;

  /**
   * Chooses ports for a name server and one broker, and writes the broker's configuration.
   *
   * @param directory gets their files and logs
   * @param brokerOptions of the broker's JVM
   * @param settings of the broker, in addition to its addresses and directories
   */
  public RocketMqPrograms(
      Path directory, Ports ports, List<String> brokerOptions, Map<String, ?> settings)
      throws IOException {
    this(directory, ports, brokerOptions, settings, null);
  }

  /**
   * Also configures replicas.
   *
   * @param replication null: one broker without replicas
   */
  public RocketMqPrograms(
      Path directory,
      Ports ports,
      List<String> brokerOptions,
      Map<String, ?> settings,
      Replication replication)
      throws IOException {
    this.directory = directory;
    this.replication = replication;
    machine =
        replication == null || replication.network == null
            ? Network.Host.LOOPBACK
            : replication.network.machine();
    int port = ports.next();
    address = machine.address() + ":" + port;
    nameServer = nameServer(port);
    Map<String, Object> ofBroker = new TreeMap<>(settings);
    if (replication != null) {
      ofBroker.putAll(replication.alone);
    }
    ofBroker.put("brokerName", replication == null ? REPLICATED_NAME : "broker-b");
    // The broker also opens the port two below and the next higher one.
    broker = broker("broker", machine, ports.next(2, 1), brokerOptions, ofBroker);
    if (replication != null) {
      addControllers(ports);
      Map<String, Object> ofReplica = new TreeMap<>(settings);
      ofReplica.putAll(replication.replica);
      ofReplica.put("brokerName", REPLICATED_NAME);
      ofReplica.put("controllerAddr", String.join(";", addresses(controllers)));
      for (int i = 1; i <= replication.replicas; i++) {
        Network.Host host = host(CONTROLLERS + i - 1);
        int replicaPort = ports.next(2, 1);
        replicas.add(
            new Replica(
                broker("broker-a-" + i, host, replicaPort, brokerOptions, ofReplica),
                host,
                replicaPort));
      }
    }
  }

  private Network.Host host(int number) {
    return replication.network == null
        ? Network.Host.LOOPBACK
        : replication.network.hosts().get(number);
  }

  private void addControllers(Ports ports) throws IOException {
    List<Network.Host> hosts = new ArrayList<>();
    List<Integer> hostPorts = new ArrayList<>();
    StringJoiner peers = new StringJoiner(";");
    for (int i = 0; i < CONTROLLERS; i++) {
      hosts.add(host(i));
      hostPorts.add(ports.next());
      peers.add("n" + i + "-" + hosts.getLast().address() + ":" + hostPorts.getLast());
    }
    for (int i = 0; i < CONTROLLERS; i++) {
      String name = "controller-" + (i + 1);
      Path home = Files.createDirectories(directory.resolve(name));
      Map<String, Object> settings = new TreeMap<>(replication.controller);
      settings.put("controllerDLegerPeers", peers);
      settings.put("controllerDLegerSelfId", "n" + i);
      settings.put("controllerStorePath", home.resolve("store"));
      settings.put("configStorePath", home.resolve("controller.properties"));
      settings.put("bindAddress", hosts.get(i).address());
      settings.put("listenPort", hostPorts.get(i));
      settings.put("mappedFileSize", 4 << 20);
      List<String> command =
          java(
              name,
              hosts.get(i),
              List.of(
                  "-Xmx96m",
                  "-XX:MaxDirectMemorySize=128m",
                  "-XX:+UseSerialGC",
                  // RocketMQ's serialization reads fields of java.lang.
                  "--add-opens=java.base/java.lang=ALL-UNNAMED"));
      command.addAll(
          List.of(
              "org.apache.rocketmq.controller.ControllerStartup",
              "-c",
              write(home.resolve("controller.conf"), settings).toString()));
      Program program = new Program(name, command, Map.of(), log(name), null);
      controllers.add(new Replica(program, hosts.get(i), hostPorts.get(i)));
    }
  }

  private Program nameServer(int port) throws IOException {
    List<String> command =
        java(
            "name-server",
            machine,
            List.of("-Xmx128m", "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC"));
    command.addAll(
        List.of(
            NameServer.class.getName(),
            Integer.toString(port),
            directory.resolve("name-server").toString(),
            machine.address()));
    return new Program("name-server", command, Map.of(), log("name-server"), null);
  }

  private Program broker(
      String name, Network.Host host, int port, List<String> options, Map<String, ?> more)
      throws IOException {
    Path home = Files.createDirectories(directory.resolve(name));
    Map<String, Object> settings = new TreeMap<>(more);
    settings.put("listenPort", port);
    settings.put("bindAddress", host.address());
    settings.put("brokerClusterName", CLUSTER);
    settings.put("brokerIP1", host.address());
    settings.put("brokerIP2", host.address());
    settings.put("namesrvAddr", address);
    settings.put("storePathRootDir", home.resolve("store"));
    settings.put("storePathCommitLog", home.resolve("store").resolve("commitlog"));
    List<String> command = java(name, host, options);
    command.addAll(
        List.of(
            "org.apache.rocketmq.broker.BrokerStartup",
            "-c",
            write(home.resolve("broker.conf"), settings).toString()));
    return new Program(name, command, Map.of(), log(name), null);
  }

  private static Path write(Path file, Map<String, Object> settings) throws IOException {
    return Files.write(
        file,
        settings.entrySet().stream()
            .map(setting -> setting.getKey() + "=" + setting.getValue())
            .toList());
  }

  private List<String> java(String name, Network.Host host, List<String> options)
      throws IOException {
    Path home = Files.createDirectories(directory.resolve(name));
    List<String> command = new ArrayList<>(host.prefix());
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

  /** Returns the broker without replicas. */
  public Program broker() {
    return broker;
  }

  /** Returns all brokers and their replicas. */
  public List<Program> brokers() {
    List<Program> brokers = new ArrayList<>(programs(replicas));
    brokers.add(broker);
    return brokers;
  }

  public List<Program> controllers() {
    return programs(controllers);
  }

  public List<Program> all() {
    List<Program> all = new ArrayList<>(List.of(nameServer));
    all.addAll(controllers());
    all.addAll(brokers());
    return all;
  }

  /** Returns the master of the replicated broker, as last reported by a controller. */
  public Program master() throws InterruptedException {
    return currentMaster().program;
  }

  private Replica currentMaster() throws InterruptedException {
    replicaSet
        .state()
        .flatMap(state ->
            replicas.stream()
                .filter(replica -> replica.address().equals(state.getMasterAddress()))
                .findFirst())
        .ifPresent(master -> lastMaster = master);
    return lastMaster;
  }

  /** Returns the replicas of the replicated broker, without its master. */
  public List<Program> followers() throws InterruptedException {
    Program master = master();
    return programs(replicas).stream().filter(program -> !program.equals(master)).toList();
  }

  /** Returns whether a controller reports a master with which all replicas are in sync. */
  public boolean isInSync() throws InterruptedException {
    return replicas.isEmpty() || inSync() == replicas.size();
  }

  /**
   * Returns the number of replicas that a controller reports as in sync, including the master; 0 if
   * it reports no master that runs.
   */
  public int inSync() throws InterruptedException {
    return replicaSet
        .state()
        .filter(state ->
            replicas.stream()
                .anyMatch(replica ->
                    replica.address().equals(state.getMasterAddress())
                        && replica.program.isRunning()))
        .map(state -> state.getInSyncReplicas().size())
        .orElse(0);
  }

  /** Cuts the master off from the other replicas and the controllers, but not from clients. */
  public void cutMaster() throws IOException, InterruptedException {
    Replica master = currentMaster();
    for (Replica controller : controllers) {
      replication.network.cut(master.host, controller.host);
    }
    for (Replica replica : replicas) {
      if (!replica.equals(master)) {
        replication.network.cut(master.host, replica.host);
      }
    }
  }

  /** Cuts the connection between the master and another replica. */
  public void cutFollower(Program follower) throws IOException, InterruptedException {
    Replica master = currentMaster();
    for (Replica replica : replicas) {
      if (replica.program == follower) {
        replication.network.cut(master.host, replica.host);
      }
    }
  }

  /** Returns the name server's address for clients: {@code host:port}. */
  public String address() {
    return address;
  }

  /** Starts all programs and creates an installation's topics, with these queues per broker. */
  public void start(int queues) throws IOException, InterruptedException {
    for (Program program : all()) {
      program.start();
    }
    if (!replicas.isEmpty()) {
      awaitReplicas();
    }
    makeTopic("trace-spans", queues);
    makeTopic("trace-windows", queues);
  }

  private void awaitReplicas() throws IOException, InterruptedException {
    try {
      replicaSet = new ReplicaSet(address, REPLICATED_NAME, addresses(controllers));
    } catch (MQClientException e) {
      throw new IOException("the controllers cannot be asked", e);
    }
    await("the replicas are not in sync", this::isInSync);
    currentMaster();
  }

  /** Creates the topic of hotspot decisions. Call this after {@link #start}. */
  public void makeDecisionsTopic() throws IOException, InterruptedException {
    makeTopic("trace-routing", 1);
  }

  /**
   * Creates a further topic, or adds queues to it. Call this after {@link #start}.
   *
   * @param queues on each broker
   */
  public void makeTopic(String topic, int queues) throws IOException, InterruptedException {
    try {
      new Topics(address, CLUSTER)
          .make(topic, queues, replicas.isEmpty() ? 1 : 2, broker::isRunning);
    } catch (IOException e) {
      throw new IOException(e.getMessage() + "; see " + broker.log(), e);
    }
    for (Replica replica : replicas) {
      await(
          replica.program.name() + " does not know topic " + topic,
          () -> replicaSet.hasTopic(replica.address(), topic, queues));
    }
  }

  /** A condition that programs must meet. */
  private interface Condition {
    boolean holds() throws InterruptedException;
  }

  private void await(String failure, Condition condition) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (!condition.holds()) {
      if (System.nanoTime() - startNanos > START_LIMIT.toNanos()) {
        throw new IOException(failure + "; see the logs in " + directory);
      }
      Thread.sleep(500);
    }
  }

  private static List<Program> programs(List<Replica> replicas) {
    return replicas.stream().map(Replica::program).toList();
  }

  private static List<String> addresses(List<Replica> replicas) {
    return replicas.stream().map(Replica::address).toList();
  }

  /** Closes the clients. Call this when the programs have ended. */
  @Override
  public void close() {
    if (replicaSet != null) {
      replicaSet.close();
    }
  }
}
