package org.traceetl.server;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.canary.Canary;
import org.traceetl.server.canary.CanaryConfig;
import org.traceetl.server.web.ProgramLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Runs a canary in this process. */
@Command(
    name = "canary",
    sortOptions = false,
    description = {
      "Tests a running installation from end to end: sends known spans through an agent, and"
          + " compares them with the servers' pages, the trace index and Prometheus.",
      "",
      "Runs until SIGTERM. Its metrics show spans that are late, missing or counted twice, and the"
          + " stage of the fault; the log has a line for each change.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} --agent-http http://localhost:4318 \\",
      "    --servers http://etl-1:8080",
      "",
      "Exit codes: 1 the port cannot be opened, 2 an option is invalid."
    })
final class CanaryCommand implements Callable<Integer> {
  private static final Logger log = LoggerFactory.getLogger(CanaryCommand.class);

  @Spec private CommandSpec spec;

  @Option(
      names = "--agent-http",
      paramLabel = "URL",
      description =
          "Sends spans by OTLP/HTTP to this agent. It must lead to one agent, not to several in"
              + " turn: only the agent that got a request recognises its repeat.")
  private URI agentHttp;

  @Option(
      names = "--agent-grpc",
      paramLabel = "URL",
      description = "Sends spans by OTLP/gRPC to this agent, for example http://localhost:4317.")
  private URI agentGrpc;

  @Option(
      names = "--agent-ring",
      paramLabel = "DIRECTORY",
      description =
          "Writes spans into shared memory of the agent of this host, whose ring.directory this is,"
              + " such as /dev/shm/trace-etl.")
  private Path agentRing;

  @Option(
      names = "--servers",
      paramLabel = "URL",
      description = "Reads the pages of all servers, which /api/targets of this server lists.")
  private URI servers;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "Reads the page of this server; may be repeated. Instead of --servers.")
  private List<URI> fixed = List.of();

  @Option(
      names = "--index",
      description = "Also expects the failed and slow spans in /api/traces of the servers.")
  private boolean index;

  @Option(
      names = "--prometheus",
      paramLabel = "URL",
      description = "Also expects the spans in this Prometheus.")
  private URI prometheus;

  @Option(
      names = "--application",
      paramLabel = "NAME",
      defaultValue = "trace-etl-canary",
      description = "Application of the spans (default: ${DEFAULT-VALUE}).")
  private String application;

  @Option(
      names = "--metric",
      paramLabel = "NAME",
      defaultValue = "traces_span_metrics_calls_total",
      description =
          "Counter of spans (default: ${DEFAULT-VALUE}). Profile tempo has"
              + " traces_spanmetrics_calls_total.")
  private String metric;

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "5s",
      converter = Time.class,
      description = "How often spans are sent and pages read (default: ${DEFAULT-VALUE}).")
  private Duration interval;

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      defaultValue = "45s",
      converter = Time.class,
      description =
          "How late spans may be before the canary is red (default: ${DEFAULT-VALUE}). At least two"
              + " windows of the servers, and two intervals of scrapes.")
  private Duration deadline;

  @Option(
      names = "--lost-after",
      paramLabel = "TIME",
      defaultValue = "6h",
      converter = Time.class,
      description =
          "After which time missing spans count as lost; above your longest outage (default:"
              + " ${DEFAULT-VALUE}).")
  private Duration lostAfter;

  @Option(
      names = "--agent-token-file",
      paramLabel = "FILE",
      description = "File with the bearer token for the agent; its first line is read each time.")
  private Path agentToken;

  @Option(
      names = "--server-token-file",
      paramLabel = "FILE",
      description = "File with the bearer token for the servers.")
  private Path serverToken;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description =
          "CA certificates (PEM) of agents, servers and Prometheus (default: those of the JVM).")
  private Path caFile;

  @Option(
      names = "--address",
      paramLabel = "HOST",
      description = "Address of the canary's own port (default: all).")
  private String address;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "9466",
      description =
          "The canary's own port, with /metrics, /health and /ready (default: ${DEFAULT-VALUE}).")
  private int port;

  @Override
  @SuppressWarnings("resource") // It ends with the process.
  public Integer call() {
    ServerPlatform platform = ServerPlatform.system();
    try {
      CanaryConfig config =
          new CanaryConfig(
              agentHttp,
              agentGrpc,
              agentRing,
              servers,
              fixed,
              index,
              prometheus,
              application,
              metric,
              interval,
              deadline,
              lostAfter,
              agentToken,
              serverToken,
              caFile,
              address,
              port);
      ProgramLog.toConsole();
      Canary canary = Canary.start(config, Clocks.SYSTEM, platform.random());
      log.info("Started the canary {}; port={}", Version.text(), canary.port());
      return CommandLine.ExitCode.OK;
    } catch (ConfigException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (IOException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** A number with its unit: {@code 500ms}, {@code 5s}, {@code 1m}, {@code 6h}. */
  static final class Time implements ITypeConverter<Duration> {
    private static final Pattern PATTERN = Pattern.compile("(\\d{1,6})(ms|s|m|h)");

    @Override
    public Duration convert(String text) {
      Matcher matcher = PATTERN.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException("'" + text + "' is not a time such as 500ms, 5s or 6h");
      }
      long number = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(number);
        case "s" -> Duration.ofSeconds(number);
        case "m" -> Duration.ofMinutes(number);
        default -> Duration.ofHours(number);
      };
    }
  }
}
