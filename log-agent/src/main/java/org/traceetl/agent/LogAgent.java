package org.traceetl.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.FileReason;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** The command line. */
@Command(
    name = "${sys:traceetl.command:-log-agent}",
    mixinStandardHelpOptions = true,
    versionProvider = LogAgent.Version.class,
    resourceBundle = "org.traceetl.common.help",
    description =
        "Receives spans from the applications of a host, stores them on disk and publishes them to"
            + " RocketMQ.",
    footer = {
      "",
      "An environment variable can set each configuration key: for otlp.grpc-port it is"
          + " TRACE_ETL_AGENT_OTLP_GRPC_PORT.",
      "",
      "Exit codes: 1 cannot start, 2 invalid configuration, 3 a thread failed. SIGTERM and SIGINT"
          + " drain the agent, which then exits with 128 plus the signal's number. Batches that are"
          + " not confirmed stay in the spool until the next start. SIGHUP re-reads changed files"
          + " at once."
    })
public final class LogAgent implements Callable<Integer> {
  private static final int CANNOT_START = 1;
  private static final int WRONG_CONFIG = 2;
  private static final int FAILED = 3;

  private static final String LOG_LEVEL = "TRACE_ETL_LOG_LEVEL";
  private static final Set<String> LEVELS =
      Set.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF");

  private final Map<String, String> environment;

  @Spec private CommandSpec spec;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "YAML configuration file. Without it, all keys have their default values.")
  private Path configFile;

  @Option(
      names = "--check-config",
      description = "Prints the effective configuration or its errors, and exits.")
  private boolean checkConfig;

  LogAgent(Map<String, String> environment) {
    this.environment = environment;
  }

  public static void main(String[] args) {
    // Not Logback's default name, because a program that embeds the agent configures the log
    // itself.
    if (System.getProperty("logback.configurationFile") == null) {
      System.setProperty("logback.configurationFile", "log-agent-logback.xml");
    }
    System.exit(commandLine(System.getenv()).execute(args));
  }

  /**
   * Returns the command line, to be run or described.
   *
   * @param environment may set configuration keys
   */
  public static CommandLine commandLine(Map<String, String> environment) {
    return new CommandLine(new LogAgent(environment))
        .setParameterExceptionHandler((wrong, args) -> {
          wrong.getCommandLine().getErr().println(wrong.getMessage() + "\nSee --help.");
          return WRONG_CONFIG;
        });
  }

  @Override
  public Integer call() throws InterruptedException {
    String level = environment.getOrDefault(LOG_LEVEL, "INFO");
    if (!LEVELS.contains(level.toUpperCase(Locale.ROOT))) {
      // Logback would log everything.
      complain(LOG_LEVEL + " = " + level + ": must be TRACE, DEBUG, INFO, WARN, ERROR or OFF");
      return WRONG_CONFIG;
    }
    ConfigReader config;
    String yaml;
    try {
      yaml = configFile == null ? "" : Files.readString(configFile);
      config =
          ConfigReader.read(configFile == null ? "" : configFile.toString(), yaml, environment);
    } catch (IOException e) {
      complain("--config = " + configFile + ": " + FileReason.unreadable(e));
      return WRONG_CONFIG;
    } catch (ConfigException e) {
      e.problems().forEach(this::complain);
      return WRONG_CONFIG;
    }
    if (checkConfig) {
      spec.commandLine().getOut().print(config.effective());
      spec.commandLine().getOut().flush();
      return 0;
    }
    return run(config, yaml);
  }

  private int run(ConfigReader config, String yaml) throws InterruptedException {
    RunningAgent agent;
    try {
      agent = RunningAgent.start(config.config(), Platform.SYSTEM);
    } catch (IOException e) {
      complain(e.getMessage());
      return CANNOT_START;
    }
    MemoryBounds.of(config.config()).tell();
    // An agent without one of its threads would look alive but do nothing.
    Thread.setDefaultUncaughtExceptionHandler(LogAgent::exitAfter);
    IdleHeap.watch(Clocks.SYSTEM);
    Duration timeout = Duration.ofMillis(config.config().drainTimeoutMillis());
    // SIGTERM and SIGINT run this hook; the JVM exits when it returns.
    Runtime.getRuntime()
        .addShutdownHook(Thread.ofPlatform().name("drain").unstarted(() -> agent.drain(timeout)));
    if (configFile != null) {
      agent.watch(
          "config_file",
          new LiveConfigFile(configFile, yaml, environment, config, agent::followFiles));
    }
    reloadOnHangUp(agent);
    Thread.currentThread().join();
    return 0;
  }

  /** Re-reads files on SIGHUP. The JDK's only API for signals is in jdk.unsupported. */
  private static void reloadOnHangUp(RunningAgent agent) {
    Logger log = LoggerFactory.getLogger(LogAgent.class);
    try {
      SignalHandler before = Signal.handle(new Signal("HUP"), signal -> agent.reload());
      if (before.equals(SignalHandler.SIG_IGN)) {
        // If the parent process ignores SIGHUP, the JVM keeps ignoring it.
        log.warn(
            "SIGHUP is ignored because the parent process, such as nohup, ignores it; the agent"
                + " re-reads changed files only at their intervals");
      } else {
        log.info(
            "Send SIGHUP to re-read the routing, filters, certificate, token and configuration"
                + " files at once");
      }
    } catch (IllegalArgumentException e) {
      log.info("Cannot handle SIGHUP on this system: {}", e.getMessage());
    }
  }

  private static void exitAfter(Thread thread, Throwable failure) {
    try {
      LoggerFactory.getLogger(LogAgent.class)
          .error("Thread {} failed; the agent exits", thread.getName(), failure);
    } finally {
      Runtime.getRuntime().halt(FAILED);
    }
  }

  private void complain(String problem) {
    spec.commandLine().getErr().println(problem);
    spec.commandLine().getErr().flush();
  }

  /** Returns the version from the jar's manifest; {@code development} without one. */
  static String version() {
    String version = LogAgent.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  static final class Version implements CommandLine.IVersionProvider {
    @Spec private CommandSpec spec;

    @Override
    public String[] getVersion() {
      return new String[] {spec.qualifiedName() + " " + version()};
    }
  }
}
