package org.traceetl.perf.systest.chaos;

import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.ImageFromDockerfile;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;
import org.traceetl.testkit.Elasticsearch;
import org.traceetl.testkit.NameServer;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Topics;

/**
 * An installation in containers: RocketMQ, Elasticsearch, and agents and servers of the project's
 * images, which run as the Helm chart runs them. Servers are in two networks, the brokers' and
 * Elasticsearch's, so that they can be cut off from the brokers alone. For one thread.
 *
 * <p>System property {@code traceetl.image-tag} names the images. RocketMQ's and Elasticsearch's
 * images are built from the files that Maven unpacked, on the JDK image of {@code
 * traceetl.jdk-image}.
 */
final class Containers implements AutoCloseable {
  /** Longer than the default limit of a stop. */
  static final Duration GRACE = Duration.ofSeconds(45);

  static final Duration WINDOW = Duration.ofSeconds(2);

  private static final String CLUSTER = "perf";
  private static final String NAME_SERVER = "name-server:9876";
  private static final URI ELASTICSEARCH = URI.create("http://elasticsearch:9200");

  /** The default tag of the images. */
  static final String TAG = System.getProperty("traceetl.image-tag", "latest");

  private static final String JDK_IMAGE =
      System.getProperty("traceetl.jdk-image", "eclipse-temurin:25-jdk");
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Duration START_LIMIT = Duration.ofMinutes(8);

  private final Path directory;
  private final HttpClient http;
  private final Ports ports = new Ports();
  private final Network brokers = Network.newNetwork();
  private final Network index = Network.newNetwork();
  private final List<GenericContainer<?>> all = new ArrayList<>();
  private final List<ContainerProgram> agents = new ArrayList<>();
  private final List<ContainerProgram> servers = new ArrayList<>();
  private final List<Integer> otlpPorts = new ArrayList<>();
  private final List<Integer> telemetryPorts = new ArrayList<>();
  private URI elasticsearch;
  private int serversEver;

  /**
   * @param directory for configurations and the trace log; other users must be able to read it
   */
  Containers(Path directory, HttpClient http) {
    this.directory = directory;
    this.http = http;
  }

  /** Starts RocketMQ, with its topics, and Elasticsearch. */
  void start() throws IOException, InterruptedException {
    Files.createDirectories(traceLog().getParent());
    GenericContainer<?> search = elasticsearch();
    GenericContainer<?> nameServer =
        rocketMq(
            "name-server", "-Xmx128m", NameServer.class.getName(), "9876", "/tmp/home", "0.0.0.0");
    GenericContainer<?> broker =
        rocketMq(
                "broker",
                "-Xmx512m",
                "org.apache.rocketmq.broker.BrokerStartup",
                "-c",
                "/opt/rocketmq/broker.conf")
            .withCopyToContainer(
                Transferable.of(brokerConfiguration()), "/opt/rocketmq/broker.conf");
    nameServer.start();
    broker.start();
    search.start();
    elasticsearch = URI.create("http://" + search.getHost() + ":" + search.getMappedPort(9200));
    var topics =
        broker.execInContainer(
            "java",
            "-cp",
            "/opt/rocketmq/classes:/opt/rocketmq/lib/*",
            Topics.class.getName(),
            NAME_SERVER,
            CLUSTER,
            Integer.toString(ChaosInstallation.QUEUES));
    if (topics.getExitCode() != 0) {
      throw new IOException("topics cannot be created: " + topics.getStdout() + topics.getStderr());
    }
  }

  private static String brokerConfiguration() {
    return Stream.concat(
            ChaosInstallation.brokerSettings().entrySet().stream()
                .map(setting -> setting.getKey() + "=" + setting.getValue()),
            Stream.of(
                "brokerName=broker-a",
                "brokerClusterName=" + CLUSTER,
                "namesrvAddr=" + NAME_SERVER,
                "storePathRootDir=/tmp/home/store",
                "storePathCommitLog=/tmp/home/store/commitlog"))
        .collect(Collectors.joining("\n"));
  }

  private GenericContainer<?> rocketMq(String alias, String heap, String... program)
      throws IOException {
    ImageFromDockerfile image =
        new ImageFromDockerfile("trace-etl/test-rocketmq", false)
            .withFileFromPath("lib", TARGET.resolve("lib"))
            .withFileFromPath("classes", TARGET.resolve("classes"))
            .withFileFromString(
                "Dockerfile",
                """
                FROM %s
                COPY lib /opt/rocketmq/lib/
                COPY classes /opt/rocketmq/classes/
                WORKDIR /tmp/home
                """
                    .formatted(JDK_IMAGE));
    List<String> command =
        new ArrayList<>(
            List.of(
                "java",
                heap,
                "-XX:MaxDirectMemorySize=1g",
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Duser.home=/tmp/home",
                "-Drocketmq.home.dir=/tmp/home",
                "-cp",
                "/opt/rocketmq/classes:/opt/rocketmq/lib/*"));
    command.addAll(List.of(program));
    return started(new GenericContainer<>(image), brokers)
        .withNetworkAliases(alias)
        .withCommand(command.toArray(String[]::new));
  }

  private GenericContainer<?> elasticsearch() throws IOException {
    ImageFromDockerfile image =
        new ImageFromDockerfile("trace-etl/test-elasticsearch", false)
            .withFileFromPath("elasticsearch", Elasticsearch.home())
            .withFileFromString(
                "Dockerfile",
                """
                FROM %s
                COPY --chown=1000:1000 elasticsearch /opt/elasticsearch/
                RUN chown 1000:1000 /opt/elasticsearch
                ENV ES_JAVA_HOME=$JAVA_HOME ES_JAVA_OPTS="-Xms512m -Xmx512m"
                USER 1000:1000
                """
                    .formatted(JDK_IMAGE));
    return started(new GenericContainer<>(image), index)
        .withNetworkAliases("elasticsearch")
        .withExposedPorts(9200)
        .withCommand(
            "bash",
            "/opt/elasticsearch/bin/elasticsearch",
            "-Ediscovery.type=single-node",
            "-Enetwork.host=0.0.0.0",
            "-Expack.security.enabled=false",
            "-Ecluster.routing.allocation.disk.threshold_enabled=false")
        .waitingFor(
            Wait.forHttp("/_cluster/health?wait_for_status=yellow")
                .forPort(9200)
                .withStartupTimeout(START_LIMIT));
  }

  /**
   * Starts an agent without waiting until it is ready. The first agent follows the trace log.
   *
   * @param tag of its image
   */
  ContainerProgram addAgent(String tag) throws IOException {
    otlpPorts.add(ports.next());
    telemetryPorts.add(ports.next());
    agents.add(agent(agents.size() + 1, tag));
    return agents.getLast();
  }

  /**
   * Stops an agent by SIGTERM and starts another with its ports and data, as a DaemonSet does.
   *
   * @param index in {@link #agents}
   */
  void replaceAgent(int index, String tag) throws IOException {
    ContainerProgram old = agents.get(index);
    old.stop(GRACE);
    old.container().stop();
    agents.set(index, agent(index + 1, tag));
  }

  private ContainerProgram agent(int number, String tag) throws IOException {
    int otlpPort = otlpPorts.get(number - 1);
    int telemetryPort = telemetryPorts.get(number - 1);
    Path configuration = configuration("agent-" + number);
    Files.writeString(
        configuration.resolve("log-agent.yaml"),
        """
        state-directory: /var/lib/trace-etl
        files:
          paths: [%s]
        rocketmq:
          name-server: %s
          route-refresh-millis: 2000
        """
            .formatted(number == 1 ? "/logs/trace.log" : "", NAME_SERVER));
    GenericContainer<?> container =
        asTheChartDoes(
            "log-agent:" + tag,
            1L << 30,
            mount(configuration),
            mount(traceLog().getParent(), "/logs"),
            new Mount()
                .withType(MountType.VOLUME)
                .withSource(stateVolume(number))
                .withTarget("/var/lib/trace-etl"));
    container.setPortBindings(
        List.of("127.0.0.1:" + otlpPort + ":4318", "127.0.0.1:" + telemetryPort + ":9465"));
    container.start();
    return new ContainerProgram(
        "agent-" + number, container, local(telemetryPort), "/health", http);
  }

  /** Returns the name of the volume, which Docker creates with content and owner of the image. */
  private String stateVolume(int agent) {
    return brokers.getId().substring(0, 12) + "-agent-" + agent;
  }

  /**
   * Starts a server without waiting until it is ready.
   *
   * @param tag of its image
   */
  ContainerProgram addServer(String tag) throws IOException {
    String name = "server-" + ++serversEver;
    Path configuration = configuration(name);
    Files.writeString(
        configuration.resolve("trace-etl-server.yaml"),
        ChaosInstallation.serverConfiguration("0.0.0.0", 8080, NAME_SERVER, ELASTICSEARCH, WINDOW));
    int port = ports.next();
    GenericContainer<?> container = asTheChartDoes("server:" + tag, 2L << 30, mount(configuration));
    container.setPortBindings(List.of("127.0.0.1:" + port + ":8080"));
    container.start();
    connect(container, index);
    servers.add(new ContainerProgram(name, container, local(port), "/ready", http));
    return servers.getLast();
  }

  /** Stops a server by SIGTERM, and removes it. */
  void removeServer(ContainerProgram server) {
    server.stop(GRACE);
    server.container().stop();
    servers.remove(server);
  }

  private static URI local(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  private Path configuration(String name) throws IOException {
    return Files.createDirectories(directory.resolve(name));
  }

  /** Mounts a configuration where the image reads it. */
  private static Mount mount(Path configuration) {
    return mount(configuration, "/etc/trace-etl");
  }

  private static Mount mount(Path path, String where) {
    return new Mount()
        .withType(MountType.BIND)
        .withSource(path.toString())
        .withTarget(where)
        .withReadOnly(true);
  }

  /**
   * Returns a container with the image's user, entry point and arguments.
   *
   * @param image its name and tag
   */
  private GenericContainer<?> asTheChartDoes(String image, long memoryBytes, Mount... mounts) {
    return started(new GenericContainer<>(DockerImageName.parse("trace-etl/" + image)), brokers)
        .withTmpFs(Map.of("/tmp", "rw,noexec,nosuid,nodev,size=128m"))
        .withCreateContainerCmdModifier(create -> {
          HostConfig host = create.getHostConfig();
          // Testcontainers' own method checks the mounts with an image from a registry.
          host.withMounts(List.of(mounts))
              .withReadonlyRootfs(true)
              .withCapDrop(Capability.ALL)
              .withSecurityOpts(List.of("no-new-privileges"))
              .withNanoCPUs(2_000_000_000L)
              .withMemory(memoryBytes)
              .withMemorySwap(memoryBytes);
        });
  }

  /** Registers a container to be closed, which starts without waiting. */
  private GenericContainer<?> started(GenericContainer<?> container, Network network) {
    all.add(container);
    return container
        .withNetwork(network)
        .waitingFor(
            new AbstractWaitStrategy() {
              @Override
              protected void waitUntilReady() {}
            });
  }

  private static void connect(GenericContainer<?> container, Network network) {
    container
        .getDockerClient()
        .connectToNetworkCmd()
        .withContainerId(container.getContainerId())
        .withNetworkId(network.getId())
        .exec();
  }

  /** Disconnects a server from the network of broker and name server. */
  void cut(ContainerProgram server) {
    server
        .container()
        .getDockerClient()
        .disconnectFromNetworkCmd()
        .withContainerId(server.container().getContainerId())
        .withNetworkId(brokers.getId())
        .exec();
  }

  /** Reconnects it. */
  void mend(ContainerProgram server) {
    connect(server.container(), brokers);
  }

  List<ContainerProgram> agents() {
    return agents;
  }

  List<ContainerProgram> servers() {
    return servers;
  }

  /** Returns the pages of the servers that run. */
  List<String> serverPages() throws InterruptedException {
    List<String> pages = new ArrayList<>();
    for (ContainerProgram server : servers) {
      if (server.isRunning()) {
        pages.add(server.page());
      }
    }
    return pages;
  }

  /** Returns the agents' ports for OTLP over HTTP. */
  List<Integer> otlpPorts() {
    return otlpPorts;
  }

  URI elasticsearchUri() {
    return elasticsearch;
  }

  /** Returns the trace log that the first agent follows. */
  Path traceLog() {
    return directory.resolve("logs").resolve("trace.log");
  }

  @Override
  public void close() {
    all.reversed().forEach(GenericContainer::stop);
    for (int number = 1; number <= agents.size(); number++) {
      DockerClientFactory.instance().client().removeVolumeCmd(stateVolume(number)).exec();
    }
    brokers.close();
    index.close();
  }
}
