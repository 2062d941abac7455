package org.traceetl.server;

import com.google.common.base.Throwables;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Threads;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.RulesFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.features.backfill.Backfill;
import org.traceetl.server.features.backfill.BackfillRequest;
import org.traceetl.server.features.backfill.BackfillResult;
import org.traceetl.server.features.backfill.LiveRules;
import org.traceetl.server.features.backfill.SampleReceiver;
import org.traceetl.server.features.backfill.SpanTopic;
import org.traceetl.server.features.push.PushConfig;
import org.traceetl.server.features.push.RemoteWriter;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.Unmatched;

/** Writes what the series of an application would have been by a file of rules. */
@Command(
    name = "backfill",
    description = {
      "Counts the retained spans of an application by a file of rules, and writes the samples with"
          + " their times as OpenMetrics text, which promtool imports into Prometheus.",
      "",
      "Reads the messages outside the consumer group, and changes nothing on the broker or in"
          + " servers. Pauses while servers lag. If it is interrupted, the same command continues:"
          + " finished files stay. Learnt names are ignored.",
      ""
    },
    footer = {
      "",
      "Set a configuration key as --KEY=VALUE, as an environment variable or in the file.",
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} --config trace-etl-server.yaml \\",
      "    --application checkout --rules rules.yaml --since 12h --until 4h \\",
      "    --output checkout",
      "  for file in checkout/*.om; do",
      "    promtool tsdb create-blocks-from openmetrics $file /prometheus",
      "  done",
      "",
      "Do not import a file that ends after the begin of the head of Prometheus, usually two to"
          + " three hours ago: Prometheus would drop samples of its own at its next start.",
      "",
      "Exit codes: 0 all files are written; 1 the topic cannot be read, lacks messages of the range"
          + " or has no spans of the application in it, the journal does not show the switch, a"
          + " file cannot be written, or the receiver does not answer or refuses samples that it"
          + " does not have; 2 the configuration, the file of rules or an option is invalid,"
          + " servers follow other rules, or the directory has another plan."
    })
final class BackfillCommand implements Callable<Integer> {
  private static final String SWITCH = "switch";
  private static final long DEFAULT_RATE = 50_000_000;
  private static final Pattern DURATION = Pattern.compile("\\d{1,6}[smhd]");
  private static final Pattern PREFIX = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");

  private final Clocks clocks;

  @Spec private CommandSpec spec;

  @Mixin private ConfigurationOptions configuration = new ConfigurationOptions();

  @Option(
      names = "--application",
      required = true,
      paramLabel = "NAME",
      description = "The application (service.name), without wildcards.")
  private String application;

  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE",
      description = "The file of rules (YAML) by which spans count.")
  private Path rules;

  @Option(
      names = "--since",
      required = true,
      paramLabel = "6h",
      description =
          "Begin of the first pane: a time such as 2026-11-27T12:00:00Z, or an age such as 30m, 6h"
              + " or 1d.")
  private String since;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      description =
          "End of the last pane, a time or an age, at least trace-etl.window.grace ago; or"
              + " 'switch': where live series by these rules begin (default: as late as possible).")
  private String until;

  @Option(
      names = "--output",
      required = true,
      paramLabel = "DIR",
      description = "Directory for the files: a new or empty one, or that of the same backfill.")
  private Path output;

  @Option(
      names = "--remote-write",
      paramLabel = "URL",
      description =
          "Also sends the samples to this receiver of Remote Write, with the native buckets of the"
              + " rules, which files cannot have. An endpoint of trace-etl.push with this URL gives"
              + " its credentials. Prometheus needs storage.tsdb.out_of_order_time_window.")
  private URI remoteWrite;

  @Option(
      names = "--prefix",
      paramLabel = "NAME",
      description = "Begin of the names of all series (default: ${DEFAULT-VALUE}).")
  private String prefix = "backfill_";

  @Option(
      names = "--rate",
      paramLabel = "50MB/s",
      converter = RateConverter.class,
      description = "Maximum rate at which messages are read, such as 500kB/s (default: 50MB/s).")
  private long rate = DEFAULT_RATE;

  @Unmatched private List<String> rest = new ArrayList<>();

  BackfillCommand(Clocks clocks) {
    this.clocks = clocks;
  }

  @Override
  public Integer call() throws InterruptedException {
    FutureTask<Integer> task = new FutureTask<>(this::backfill);
    clocks.threads().create(Threads.Kind.BACKGROUND, "trace-backfill", task).start();
    try {
      return task.get();
    } catch (ExecutionException e) {
      Throwables.throwIfUnchecked(e.getCause());
      throw new IllegalStateException(e.getCause());
    } finally {
      task.cancel(true);
    }
  }

  private int backfill() {
    PrintWriter err = spec.commandLine().getErr();
    try {
      BackfillRequest request = request();
      SampleReceiver receiver = request.receiver();
      try (receiver) {
        SpanTopic topic = SpanTopic.of(request.rocketmq(), clocks);
        BackfillResult result = new Backfill(request, topic, clocks, err).run();
        result.print(spec.commandLine().getOut());
        return receiver != null && receiver.lacksSamples()
            ? CommandLine.ExitCode.SOFTWARE
            : CommandLine.ExitCode.OK;
      }
    } catch (ConfigurationRefused | ConfigException e) {
      err.println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (IOException | TlsRefused e) {
      err.println(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private BackfillRequest request() {
    ServerConfig configured = configuration.read(spec.commandLine(), rest);
    ConfigException.check(!application.isEmpty(), "--application", application, "must be a name");
    ConfigException.check(
        PREFIX.matcher(prefix).matches(),
        "--prefix",
        prefix,
        "must be the begin of a metric name, at least one character, so that these series are not"
            + " added to those of servers");
    boolean isSwitch = SWITCH.equals(until);
    Instant now = clocks.wall().instant();
    BackfillRequest.Range range =
        new BackfillRequest.Range(
            since,
            until,
            time("--since", since, now),
            until == null || isSwitch ? null : time("--until", until, now));
    Rules ofFile = RulesFile.read(rules, configured);
    ServerConfig config = configured.with(ofFile.of(application, configured.rules()));
    BackfillRequest request =
        request(config, range, isSwitch ? ServersOfRules.of(configured, ofFile, platform()) : null);
    return remoteWrite == null ? request : request.with(receiver(configured, request));
  }

  private ServerPlatform platform() {
    ServerPlatform system = ServerPlatform.system();
    return new ServerPlatform(clocks, system.random(), system.brokers(), system.features());
  }

  private SampleReceiver receiver(ServerConfig configured, BackfillRequest request) {
    PushConfig push = configured.feature(PushConfig.class);
    PushConfig.Endpoint endpoint =
        push.endpoints().stream()
            .filter(each -> each.url().equals(remoteWrite))
            .findFirst()
            .orElseGet(() -> PushConfig.Endpoint.at(remoteWrite));
    ConfigException.check(
        !endpoint.isOtlp(),
        "--remote-write",
        endpoint.name(),
        "must be an endpoint of Remote Write");
    RemoteWriter writer = new RemoteWriter(push, endpoint, request.naming(), clocks);
    String id =
        Hashing.sha256()
            .hashString(
                String.join(
                    "\n",
                    remoteWrite.toString(),
                    new TreeMap<>(push.labels()).toString(),
                    // Files do not depend on them, but what the receiver has does.
                    String.valueOf(request.histogram().kind()),
                    String.valueOf(request.histogram().nativeSchema())),
                StandardCharsets.UTF_8)
            .toString();
    return new SampleReceiver() {
      @Override
      public String id() {
        return id;
      }

      @Override
      public void sample(
          SeriesDefinition series,
          long startMillis,
          long atMillis,
          long[] counts,
          long sumMillis,
          int sumNanos,
          NativeTotals natives)
          throws IOException, InterruptedException {
        writer.sample(series, startMillis, atMillis, counts, sumMillis, sumNanos, natives);
      }

      @Override
      public void flush() throws IOException, InterruptedException {
        writer.flush();
      }

      @Override
      public long written() {
        return writer.written();
      }

      @Override
      public Map<String, Long> refused() {
        return writer.refused();
      }

      @Override
      public void close() {
        writer.close();
      }
    };
  }

  private BackfillRequest request(
      ServerConfig config, BackfillRequest.Range range, LiveRules live) {
    return new BackfillRequest(
        application,
        config.rocketmq(),
        config.series(),
        config.metrics(),
        histogram(config.histogram()),
        config.measures(),
        config.window(),
        config.deduplication(),
        config.agents(),
        prefix,
        range,
        output,
        rate,
        live,
        null);
  }

  /** Returns what the output can have of a histogram: promtool ignores native buckets. */
  private HistogramConfig histogram(HistogramConfig ofRules) {
    ConfigException.check(
        remoteWrite != null || ofRules.kind() != HistogramConfig.Kind.NATIVE,
        "histogram.kind",
        "native",
        "needs --remote-write, because files for promtool cannot have native buckets; or use kind"
            + " both or classic in "
            + rules);
    return remoteWrite == null ? new HistogramConfig(ofRules.boundsMillis()) : ofRules;
  }

  private static Instant time(String option, String text, Instant now) {
    try {
      Instant time =
          DURATION.matcher(text).matches()
              ? now.minus(new CompareCommand.DurationConverter().convert(text))
              : Instant.parse(text);
      ConfigException.check(
          !time.isBefore(Instant.EPOCH) && !time.isAfter(now),
          option,
          text,
          "must be after 1970 and before now");
      return time;
    } catch (DateTimeParseException e) {
      throw new ConfigException(
          option,
          text,
          "must be a time in UTC, such as 2026-11-27T12:00:00Z, or an age such as 6h");
    }
  }

  /** Bytes per second: {@code 500kB/s}, {@code 50MB/s}, {@code 1GB/s}. */
  private static final class RateConverter implements ITypeConverter<Long> {
    private static final Pattern RATE = Pattern.compile("([1-9]\\d{0,5})([kMG])B/s");

    @Override
    public Long convert(String text) {
      Matcher number = RATE.matcher(text);
      if (!number.matches()) {
        throw new TypeConversionException(
            "'" + text + "' is not a rate, such as 500kB/s, 50MB/s or 1GB/s");
      }
      return Long.parseLong(number.group(1))
          * switch (number.group(2)) {
            case "k" -> 1_000L;
            case "M" -> 1_000_000L;
            default -> 1_000_000_000L;
          };
    }
  }
}
