package org.traceetl.server;

import com.google.common.primitives.Longs;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.KeyLines;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.features.preview.DryRun;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.web.PortTaken;
import org.traceetl.server.web.ServerComponents;
import org.traceetl.server.web.WebServer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.Unmatched;

/** The server: as a program by {@link #main}, or inside another one by {@link #start}. */
public final class TraceEtlServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TraceEtlServer.class);

  private final WebServer web;

  private TraceEtlServer(WebServer web) {
    this.web = web;
  }

  /**
   * Runs the server until SIGTERM, which drains it. Exit code 2: the configuration is invalid, 1:
   * the server cannot start.
   */
  public static void main(String... arguments) {
    int code = run(new PrintWriter(System.out, true), new PrintWriter(System.err, true), arguments);
    if (code != 0) {
      System.exit(code);
    }
  }

  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return run(Clocks.SYSTEM, out, err, arguments);
  }

  static int run(Clocks clocks, PrintWriter out, PrintWriter err, String... arguments) {
    return commandLine(clocks)
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler((wrong, all) -> {
          err.println(wrong.getMessage() + "\nSee --help.");
          return CommandLine.ExitCode.USAGE;
        })
        .execute(arguments);
  }

  /** Returns the command line with its commands, to be run or described. */
  public static CommandLine commandLine() {
    return commandLine(Clocks.SYSTEM);
  }

  private static CommandLine commandLine(Clocks clocks) {
    return new CommandLine(new Program())
        .addSubcommand(new ImportCommand())
        .addSubcommand(new CompareCommand(clocks.wall()))
        .addSubcommand(new CanaryCommand())
        .addSubcommand(new PreviewCommand(clocks))
        .addSubcommand(new BackfillCommand(clocks))
        .addSubcommand(new SloCommand())
        .registerConverter(Long.class, TraceEtlServer::wholeNumber);
  }

  private static Long wholeNumber(String text) {
    Long number = Longs.tryParse(text);
    if (number == null) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
    return number;
  }

  /**
   * Starts a server in this JVM. The caller must close it.
   *
   * @param properties keys and values, such as {@code server.port} and {@code
   *     trace-etl.rocketmq.name-server}; they override files and environment
   * @throws ConfigurationRefused if the configuration is invalid
   */
  public static TraceEtlServer start(Map<String, Object> properties) {
    return new TraceEtlServer(
        WebServer.start(List.of(), properties, false, TraceEtlServer::assemble));
  }

  /** Returns the HTTP port. */
  public int port() {
    return web.port();
  }

  /** Drains within {@code trace-etl.drain-within}, then stops. Idempotent. */
  @Override
  public void close() {
    web.close();
  }

  private static ServerComponents assemble(ServerConfig config) {
    return ServerAssembly.assemble(config, ServerPlatform.system());
  }

  @Command(
      name = "${sys:traceetl.command:-trace-etl-server}",
      // Also in all its commands.
      scope = ScopeType.INHERIT,
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      resourceBundle = "org.traceetl.common.help",
      description =
          "Turns spans into Prometheus metrics and stores the trace IDs of slow and failed"
              + " spans.",
      footer = {
        "",
        "Set a configuration key as --KEY=VALUE, as an environment variable"
            + " (TRACE_ETL_WINDOW_LENGTH for trace-etl.window.length) or in the file. The first of"
            + " these that contains the key applies. server.port is the HTTP port (default: 8080).",
        "",
        "Exit codes: 1 cannot start, 2 invalid configuration or option. SIGTERM drains the server,"
            + " which then exits with 143."
      })
  private static final class Program implements java.util.concurrent.Callable<Integer> {
    private static final long DEFAULT_MESSAGES = 10_000;
    private static final long DEFAULT_JOURNAL_MESSAGES = 100;

    @Spec private CommandSpec spec;

    @Mixin private ConfigurationOptions configuration = new ConfigurationOptions();

    @Option(
        names = "--check-config",
        description = "Checks the configuration, prints the effective values and exits.")
    private boolean check;

    @Option(
        names = "--dry-run",
        description =
            "Reads messages from the broker, prints how many series the configuration would"
                + " create from them, and exits. Changes nothing.")
    private boolean dryRun;

    @Option(
        names = "--messages",
        paramLabel = "N",
        description =
            "With --dry-run: reads at most the newest N messages (default: 10000). With"
                + " --journal: prints the newest N messages (default: 100).")
    private Long messages;

    @Option(
        names = "--since",
        paramLabel = "10m",
        converter = CompareCommand.DurationConverter.class,
        description =
            "With --dry-run: reads only messages that are not older than this, such as 30s,"
                + " 10m, 2h or 1d.")
    private Duration since;

    @Option(
        names = "--journal",
        paramLabel = "BROKER/QUEUE",
        description =
            "Prints the newest messages of a queue's journal and whether servers can read"
                + " the journal to its end.")
    private String journal;

    @Option(
        names = "--edges",
        description = "With --journal: reads the journal of half-edges, not that of spans.")
    private boolean edges;

    @Option(
        names = "--step-over",
        paramLabel = "OFFSET",
        description =
            "With --journal: makes all servers skip the message at this offset, which stops"
                + " them. Use it only for a message that none of your servers has written: its"
                + " content is not counted.")
    private Long stepOver;

    @Option(
        names = "--reason",
        paramLabel = "TEXT",
        description = "With --step-over: the reason, which is stored in the journal.")
    private String reason;

    @Unmatched private List<String> rest = new ArrayList<>();

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      try {
        List<String> arguments = configuration.arguments(spec.commandLine(), rest);
        if (dryRun) {
          ServerConfig config = WebServer.check(arguments);
          new DryRun(
                  config.rocketmq(),
                  config.series(),
                  ProfileParts.of(config).mapping(),
                  Clocks.SYSTEM,
                  out,
                  spec.commandLine().getErr())
              .run(messages(DEFAULT_MESSAGES), since);
        } else if (journal != null) {
          ServerConfig config = WebServer.check(arguments);
          inspect(
              edges ? JournalCommand.ofEdges(config, out) : JournalCommand.ofSpans(config, out));
        } else if (messages != null || since != null) {
          throw new ParameterException(
              spec.commandLine(),
              "--messages requires --dry-run or --journal, and --since requires --dry-run");
        } else if (stepOver != null || reason != null || edges) {
          throw new ParameterException(
              spec.commandLine(), "--step-over, --reason and --edges require --journal");
        } else if (check) {
          ServerConfig config = WebServer.check(arguments);
          AccessFile.warnings(config.web()).forEach(spec.commandLine().getErr()::println);
          KeyLines.of(config).forEach(out::println);
          out.println("The configuration is valid.");
        } else {
          WebServer server = WebServer.start(arguments, Map.of(), true, TraceEtlServer::assemble);
          log.info("Started trace-etl-server {}; port={}", Version.text(), server.port());
        }
        return CommandLine.ExitCode.OK;
      } catch (ConfigurationRefused e) {
        spec.commandLine().getErr().println(e.getMessage());
        return CommandLine.ExitCode.USAGE;
      } catch (IOException e) {
        spec.commandLine().getErr().println(e.getMessage());
        return CommandLine.ExitCode.SOFTWARE;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return CommandLine.ExitCode.SOFTWARE;
      } catch (PortTaken | TlsRefused e) {
        spec.commandLine().getErr().println(e.getMessage());
        return CommandLine.ExitCode.SOFTWARE;
      }
    }

    private void inspect(JournalCommand command) throws IOException, InterruptedException {
      long most = messages(DEFAULT_JOURNAL_MESSAGES);
      try {
        command.run(
            journal,
            log -> {
              if (stepOver != null) {
                log.stepOver(stepOver, reason == null ? "" : reason);
              } else {
                log.print(most);
              }
            });
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), e.getMessage(), e);
      }
    }

    private long messages(long standard) {
      if (messages != null && messages < 1) {
        throw new ParameterException(
            spec.commandLine(), "--messages = " + messages + ": must be 1 or more");
      }
      return messages == null ? standard : messages;
    }
  }
}
