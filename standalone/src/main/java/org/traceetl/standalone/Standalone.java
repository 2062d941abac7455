package org.traceetl.standalone;

import java.io.IOException;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.common.ConfigException;
import org.traceetl.common.FileReason;
import org.traceetl.server.Version;
import org.traceetl.testkit.EmbeddedRocketMq;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The command line of the pipeline in one JVM. */
@Command(
    name = "${sys:traceetl.command:-demo}",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    resourceBundle = "org.traceetl.common.help",
    description = "Runs broker, agent, server and a simulated load in one process.",
    sortOptions = false,
    footer = {
      "",
      "Port 0 takes a free port. Ctrl-C or SIGTERM drains and stops it. The next start with the"
          + " same --data-dir continues its counters and reads the remaining spans.",
      "",
      "Exit codes: 0 or 143 stopped on request, 1 failed to start or to drain in time, 2 wrong"
          + " option."
    })
public final class Standalone implements Callable<Integer> {
  private static final String TOPIC = "trace-spans";
  private static final String JOURNAL_TOPIC = "trace-windows";
  private static final String DECISIONS_TOPIC = "trace-routing";
  private static final String EDGES_TOPIC = "trace-edges";
  private static final String EDGES_JOURNAL_TOPIC = "trace-edge-windows";
  private static final int QUEUES = 4;

  /** More than an agent's default, because the load is small. */
  private static final double SAMPLE_RATIO = 1.0 / 8;

  private static final int EDGES_QUEUES = 2;
  private static final int FAILED = 1;
  private static final Duration DRAIN_WITHIN = Duration.ofSeconds(50);

  @Spec private CommandSpec spec;

  @Option(names = "--no-load", description = "Runs no simulated services; send your own spans.")
  private boolean noLoad;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "200",
      description = "Spans per second of the simulated services (default: ${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--incident",
      paramLabel = "N",
      converter = IncidentOption.class,
      description = {
        "Makes calls of the simulated services slow or failed, to find out why in the web UI:",
        "1 or bad-host: calls from one host fail;",
        "2 or bad-version: half of the hosts have a new version, which is slow;",
        "3 or slow-query: one query of a database is slow;",
        "4 or one-customer: calls of one customer fail;",
        "5 or retry-storm: calls fail and are repeated, which makes more of them fail.",
        "May be repeated; then each has its own services, with its name before theirs (default:"
            + " none)."
      })
  private Set<Incident> incidents = Set.of();

  @Option(
      names = "--otlp-grpc-port",
      paramLabel = "PORT",
      defaultValue = "4317",
      description = "Port for OTLP over gRPC (default: ${DEFAULT-VALUE}).")
  private int otlpGrpcPort;

  @Option(
      names = "--otlp-http-port",
      paramLabel = "PORT",
      defaultValue = "4318",
      description = "Port for OTLP over HTTP (default: ${DEFAULT-VALUE}).")
  private int otlpHttpPort;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      defaultValue = "8080",
      description =
          "Port of the web UI, /metrics, /api, /health and /ready (default: ${DEFAULT-VALUE}).")
  private int httpPort;

  @Option(
      names = "--window",
      paramLabel = "TIME",
      defaultValue = "5s",
      converter = Window.class,
      description =
          "How often counts are published, such as 500ms or 15s (default: ${DEFAULT-VALUE}; a"
              + " server's default is 15s).")
  private Duration window;

  @Option(
      names = "--trace-log",
      paramLabel = "GLOB",
      description = "Also reads these trace logs in OzHera's format; may be repeated.")
  private List<String> traceLogs = List.of();

  @Option(
      names = "--event",
      paramLabel = "NAME",
      description =
          "Also counts events of this name, such as exception, by name and exception.type; may be"
              + " repeated; '*' counts all events (default: none).")
  private List<String> events = List.of();

  @Option(
      names = "--ring-directory",
      paramLabel = "DIR",
      defaultValue = "/dev/shm/trace-etl",
      description = "Directory of the applications' rings (default: ${DEFAULT-VALUE}).")
  private Path ringDirectory;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description =
          "Directory for messages, index and logs (default: a new one, deleted at the end).")
  private Path dataDir;

  /** Closed in reverse order. */
  private final Deque<AutoCloseable> running = new ArrayDeque<>();

  private volatile boolean stopping;

  public static void main(String... arguments) {
    int code = commandLine().execute(arguments);
    if (code != 0) {
      System.exit(code);
    }
  }

  static CommandLine commandLine() {
    return new CommandLine(new Standalone())
        .setParameterExceptionHandler((wrong, arguments) -> {
          wrong.getCommandLine().getErr().println(wrong.getMessage() + "\nSee --help.");
          return CommandLine.ExitCode.USAGE;
        });
  }

  @Override
  public Integer call() throws IOException {
    if (rate < 1) {
      throw new ParameterException(
          spec.commandLine(), "--rate = " + rate + ": must be 1 or more; --no-load sends nothing");
    }
    for (Port port : ports()) {
      if (port.number < 0 || port.number > 65_535) {
        throw new ParameterException(
            spec.commandLine(), port.flag + " = " + port.number + ": not a port from 0 to 65535");
      }
    }
    if (noLoad && !incidents.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "--incident = "
              + incidents.iterator().next().label
              + ": requires the simulated services; omit --no-load");
    }
    checkAgentsOptions();
    for (Port port : ports()) {
      if (!port.isFree()) {
        complain(
            port.flag
                + " = "
                + port.number
                + ": the port is in use; stop the program that uses it, or give "
                + port.flag
                + " another port (0 takes a free one)");
        return FAILED;
      }
    }
    String unusable = dataDir == null ? "" : unusable(dataDir);
    if (!unusable.isEmpty()) {
      complain(
          "--data-dir = "
              + dataDir
              + ": "
              + unusable
              + "; let this user write there, or give another");
      return FAILED;
    }
    Path directory = dataDir != null ? dataDir : Files.createTempDirectory("trace-etl-");
    if (dataDir == null) {
      running.push(() -> delete(directory));
    }
    Thread starter = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(Thread.ofPlatform().name("drain").unstarted(() -> end(starter)));
    try {
      start(directory);
      return 0;
    } catch (IOException | RuntimeException | InterruptedException e) {
      if (stopping) {
        // The interruption is the cause. The exit code is that of the signal.
        return 0;
      }
      Path logs = directory.resolve("logs");
      complain(
          "cannot start: "
              + e.getMessage()
              + (dataDir != null && Files.exists(logs) ? "; logs are in " + logs : ""));
      return FAILED;
    }
  }

  /** Checks what the options set in the agent's configuration, as the agent does. */
  private void checkAgentsOptions() {
    String yaml =
        "files.paths: %s\nring.directory: %s\nevents.names: %s\n"
            .formatted(list(traceLogs), quoted(ringDirectory.toString()), list(events));
    try {
      ConfigReader.read(yaml, Map.of());
    } catch (ConfigException e) {
      throw new ParameterException(
          spec.commandLine(),
          e.getMessage()
              .replace("files.paths = ", "--trace-log = ")
              .replace("ring.directory = ", "--ring-directory = ")
              .replace("events.names = ", "--event = "),
          e);
    }
  }

  /** Returns a list of text in YAML. */
  private static String list(List<String> texts) {
    return texts.stream().map(Standalone::quoted).collect(Collectors.joining(", ", "[", "]"));
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /** Creates the directory if it is missing; returns why it cannot be used, or an empty string. */
  private static String unusable(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      return "cannot be created (" + FileReason.of(e) + ")";
    }
    return Files.isWritable(directory) ? "" : "cannot be written (Permission denied)";
  }

  private List<Port> ports() {
    return List.of(
        new Port("--otlp-grpc-port", otlpGrpcPort),
        new Port("--otlp-http-port", otlpHttpPort),
        new Port("--http-port", httpPort));
  }

  private void start(Path directory) throws IOException, InterruptedException {
    PrintStream out = System.out;
    out.println("Starting broker, server and agent ...");
    EmbeddedRocketMq broker = EmbeddedRocketMq.start(directory);
    opened(broker);
    broker.createTopic(TOPIC, QUEUES);
    broker.createTopic(JOURNAL_TOPIC, QUEUES);
    broker.createTopic(DECISIONS_TOPIC, 1);
    broker.createTopic(EDGES_TOPIC, EDGES_QUEUES);
    broker.createTopic(EDGES_JOURNAL_TOPIC, EDGES_QUEUES);
    EmbeddedInstallation installation =
        EmbeddedInstallation.start(
            new EmbeddedInstallation.Settings(
                broker.namesrvAddress(),
                TOPIC,
                JOURNAL_TOPIC,
                directory,
                otlpGrpcPort,
                otlpHttpPort,
                httpPort,
                window,
                ringDirectory,
                traceLogs,
                events,
                Map.of(
                    "trace-etl.events.enabled",
                    !events.isEmpty(),
                    "trace-etl.edges.enabled",
                    true)),
            Optional.empty(),
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of(), SAMPLE_RATIO));
    opened(installation);
    installation.awaitReady(Duration.ofSeconds(30));
    if (!noLoad && incidents.isEmpty()) {
      startServices(installation, "", Optional.empty(), System.nanoTime());
    }
    for (Incident incident : incidents) {
      String prefix = incidents.size() == 1 ? "" : incident.label + "-";
      startServices(installation, prefix, Optional.of(incident), incident.number());
    }
    out.print(whereToLook(installation, broker.namesrvAddress(), directory));
    out.flush();
  }

  private void startServices(
      EmbeddedInstallation installation, String prefix, Optional<Incident> incident, long seed) {
    SimulatedServices services =
        SimulatedServices.sendingTo(
            installation.otlpGrpcPort(), installation.otlpHttpPort(), prefix, incident, rate, seed);
    opened(services);
    services.start();
  }

  private void opened(AutoCloseable part) {
    synchronized (running) {
      running.push(part);
    }
  }

  private String whereToLook(EmbeddedInstallation installation, String nameServer, Path directory) {
    String web = "localhost:" + installation.httpPort();
    int shops = Math.max(1, incidents.size());
    String load =
        noLoad
            ? "no load"
            : "a load of %d spans/s from %d simulated services".formatted(shops * rate, shops * 5);
    String task =
        incidents.isEmpty()
            ? ""
            : """
            Something is wrong in the shop. After the second full minute, three clicks lead from
            the page to the cause; docs/get-started.md has the solution.
            """;
    return """

    trace-etl is up, with %s. /metrics shows spans after %s,
    rates appear after the first full minute.
    %s\

      look           http://%s/
      send spans     OTLP/gRPC localhost:%d, OTLP/HTTP http://localhost:%d
      metrics        curl -s %s/metrics | grep calls_total
      failed spans   curl -s '%s/api/traces?reason=error&limit=5'
      slow spans     curl -s '%s/api/traces?reason=slow&limit=5'
      health         curl -s %s/ready
      the agent      curl -s localhost:%d/metrics
      RocketMQ       name server %s
      logs           %s

    Ctrl-C drains and ends it.
    """
        .formatted(
            load,
            window.toString().substring(2).toLowerCase(Locale.ROOT),
            task,
            web,
            installation.otlpGrpcPort(),
            installation.otlpHttpPort(),
            web,
            web,
            web,
            web,
            installation.agentTelemetryPort(),
            nameServer,
            directory.resolve("logs"));
  }

  /** Runs in the shutdown hook; the JVM ends when it returns. */
  private void end(Thread starter) {
    Thread draining = Thread.ofPlatform().name("draining").daemon().start(() -> drain(starter));
    try {
      if (draining.join(DRAIN_WITHIN)) {
        return;
      }
      complain("did not drain within " + DRAIN_WITHIN.toSeconds() + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(FAILED);
  }

  private void drain(Thread starter) {
    stopping = true;
    starter.interrupt();
    synchronized (running) {
      boolean started = running.size() > 1;
      if (started) {
        System.out.println("\nDraining ...");
      }
      while (!running.isEmpty()) {
        try {
          running.pop().close();
        } catch (Exception e) {
          complain("failed to close a component: " + e);
        }
      }
      if (started) {
        System.out.println("Ended.");
      }
    }
  }

  private void complain(String problem) {
    spec.commandLine().getErr().println("demo: " + problem);
    spec.commandLine().getErr().flush();
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** A port of an option. */
  private record Port(String flag, int number) {
    boolean isFree() throws IOException {
      try (ServerSocket socket = new ServerSocket()) {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(number));
        return true;
      } catch (BindException e) {
        return false;
      }
    }
  }

  /** An incident by number or name. */
  static final class IncidentOption implements ITypeConverter<Incident> {
    @Override
    public Incident convert(String text) {
      try {
        return Incident.of(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** A number with its unit: {@code 500ms}, {@code 5s}, {@code 1m}. */
  static final class Window implements ITypeConverter<Duration> {
    private static final Pattern PATTERN = Pattern.compile("(\\d{1,6})(ms|s|m)");

    @Override
    public Duration convert(String text) {
      Matcher matcher = PATTERN.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException("'" + text + "' is not a time such as 500ms, 5s or 1m");
      }
      long number = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(number);
        case "s" -> Duration.ofSeconds(number);
        default -> Duration.ofMinutes(number);
      };
    }
  }
}
