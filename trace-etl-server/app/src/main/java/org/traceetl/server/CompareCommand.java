package org.traceetl.server;

import com.google.common.base.CharMatcher;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.common.ConfigException;
import org.traceetl.common.FileReason;
import org.traceetl.common.Secret;
import org.traceetl.server.compare.CompareRequest;
import org.traceetl.server.compare.Comparison;
import org.traceetl.server.compare.Source;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Compares the counters of two sides, such as those of the Collector and of this server. */
@Command(
    name = "compare",
    description = {
      "Compares the counters of two Prometheus, or of two jobs of one: whether both sides count the"
          + " same spans, and if not, how many are missing, when, and for which likely reason.",
      "",
      "Series with equal labels are a pair. Increases are those of the raw samples, so they are"
          + " exact: a lower value is a restart from 0, and a series that begins in the range counts"
          + " from 0. A side may count a span up to --settle later than the other. Only what this"
          + " does not explain is a difference, so spans that are still in flight can hide a small"
          + " one; the result is exact if the load pauses.",
      ""
    },
    footer = {
      "",
      "Reasons:",
      "  reset    a side restarted, and spans around the restart are missing",
      "  limit    a side counted spans in its overflow series",
      "  name     a label has other values on the other side; together they are equal",
      "  missing  the series has no partner on the other side",
      "  drop     a side counted fewer spans, without another sign",
      "  late     spans in flight, or counted later: no difference",
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} \\",
      "    --left http://prometheus:9090 --left-selector 'job=\"collector\"' \\",
      "    --right http://prometheus:9090 --right-selector 'job=\"trace-etl\"' \\",
      "    --range 1h --html report.html",
      "",
      "Exit codes: 0 equal, 1 different, 2 an option is invalid or a side has no valid answer."
    })
final class CompareCommand implements Callable<Integer> {
  private static final String DEFAULT_METRIC = "traces_span_metrics_calls_total";
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6})([smhd])");

  /** Labels of scrapes, instances and scopes, which the two sides cannot have in common. */
  private static final List<String> IGNORED =
      List.of(
          "job",
          "instance",
          "exported_job",
          "exported_instance",
          "trace_etl_queue",
          "__metrics_gen_instance",
          "collector_instance_id",
          "otel_scope_name",
          "otel_scope_version",
          "otel_scope_schema_url");

  private static final Duration LEAST_PANE = Duration.ofSeconds(15);
  private static final int DEFAULT_PANES = 240;
  private static final int MAX_HEADER_BYTES = 64 * 1024;
  private static final Pattern HEADER =
      Pattern.compile("([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \\t]*([\\x20-\\x7e]*)");

  private final InstantSource clock;

  @Spec private CommandSpec spec;

  @Option(
      names = "--left",
      required = true,
      paramLabel = "URL",
      description = "Prometheus with the series to compare with, such as those of the Collector.")
  private URI left;

  @Option(
      names = "--right",
      required = true,
      paramLabel = "URL",
      description = "Prometheus with the series of this server; it may be the same one.")
  private URI right;

  @Option(
      names = "--left-selector",
      paramLabel = "MATCHERS",
      description = "Selects the series of the left side, for example 'job=\"collector\"'.")
  private String leftSelector = "";

  @Option(
      names = "--right-selector",
      paramLabel = "MATCHERS",
      description = "Selects the series of the right side.")
  private String rightSelector = "";

  @Option(
      names = "--left-metric",
      paramLabel = "NAME",
      description = "Counter of the left side (default: ${DEFAULT-VALUE}).")
  private String leftMetric = DEFAULT_METRIC;

  @Option(
      names = "--right-metric",
      paramLabel = "NAME",
      description = "Counter of the right side (default: that of the left side).")
  private String rightMetric;

  @Option(
      names = "--left-headers",
      paramLabel = "FILE",
      description =
          "Headers of requests to the left side, one per line, such as"
              + " 'Authorization: Bearer TOKEN' or 'X-Scope-OrgID: shop'.")
  private Path leftHeaders;

  @Option(
      names = "--right-headers",
      paramLabel = "FILE",
      description = "Headers of requests to the right side.")
  private Path rightHeaders;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description = "Certificates to trust, PEM (default: those of the JDK).")
  private Path caFile;

  @Option(
      names = "--map",
      paramLabel = "LEFT=RIGHT",
      description = "Label of the left side that has another name on the right. Repeatable.")
  private Map<String, String> map = new LinkedHashMap<>();

  @Option(
      names = "--ignore-label",
      paramLabel = "NAME",
      description =
          "Label of one side only: series that differ in it are added up, as with job, instance,"
              + " trace_etl_queue, collector_instance_id and labels of scopes. Repeatable.")
  private List<String> ignore = List.of();

  @Option(
      names = "--range",
      paramLabel = "1h",
      converter = DurationConverter.class,
      description = "Time to compare, such as 30m, 1h or 7d (default: 1h).")
  private Duration range = Duration.ofHours(1);

  @Option(
      names = "--end",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "End of the range, such as 2026-11-27T12:00:00Z, at least --settle ago (default: as late"
              + " as possible).")
  private Instant end;

  @Option(
      names = "--pane",
      paramLabel = "15s",
      converter = DurationConverter.class,
      description = "Interval in which a difference is located (default: 15s, or range / 240).")
  private Duration pane;

  @Option(
      names = "--settle",
      paramLabel = "2m",
      converter = DurationConverter.class,
      description =
          "Maximum time by which a side counts a span later than the other: flush and scrape"
              + " intervals included (default: 2m).")
  private Duration settle = Duration.ofMinutes(2);

  @Option(
      names = "--from-first-sample",
      description =
          "Counts a series that begins in the range from its first sample. Use it if a side was not"
              + " scraped in the hour before the range.")
  private boolean fromFirstSample;

  @Option(
      names = "--tolerance",
      paramLabel = "SPANS",
      description = "Difference of a pair that counts as equal (default: 0).")
  private Long tolerance = 0L;

  @Option(names = "--top", paramLabel = "N", description = "Pairs to print at most (default: 20).")
  private Long top = 20L;

  @Option(names = "--html", paramLabel = "FILE", description = "Also writes the report as a page.")
  private Path html;

  @Option(
      names = "--timeout",
      paramLabel = "60s",
      converter = DurationConverter.class,
      description = "Longest wait for an answer (default: 60s).")
  private Duration timeout = Duration.ofSeconds(60);

  CompareCommand(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    try {
      ConfigException.checkRange("--top", top, 0, 10_000);
      Comparison comparison = Comparison.of(request());
      if (html != null) {
        write(comparison.html(top.intValue()));
      }
      comparison.text(top.intValue()).forEach(spec.commandLine().getOut()::println);
      return comparison.isEqual() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (IllegalArgumentException | IOException e) {
      err.println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CommandLine.ExitCode.USAGE;
    }
  }

  private CompareRequest request() {
    ConfigException.check(
        timeout.isPositive(), "--timeout", timeout.toSeconds() + "s", "must be 1s or more");
    Set<String> ignored = new HashSet<>(IGNORED);
    ignored.addAll(ignore);
    Duration width = pane == null ? defaultPane() : pane;
    Instant latest = clock.instant().minus(wholePanes(settle, width));
    ConfigException.check(
        end == null || !end.isAfter(latest),
        "--end",
        end,
        "must be at least --settle ago, because spans are still in flight");
    return new CompareRequest(
        new Source("left", left, leftMetric, matchers(leftSelector), headers("left", leftHeaders)),
        new Source(
            "right",
            right,
            rightMetric == null ? leftMetric : rightMetric,
            matchers(rightSelector),
            headers("right", rightHeaders)),
        map,
        ignored,
        end == null ? Instant.ofEpochSecond(latest.getEpochSecond()) : end,
        range,
        width,
        settle,
        !fromFirstSample,
        tolerance,
        caFile,
        timeout);
  }

  private Duration defaultPane() {
    Duration share = Duration.ofSeconds(Math.ceilDiv(range.toSeconds(), DEFAULT_PANES));
    Duration least = range.compareTo(LEAST_PANE) < 0 ? Duration.ofSeconds(1) : LEAST_PANE;
    return share.compareTo(least) > 0 ? share : least;
  }

  private static Duration wholePanes(Duration duration, Duration pane) {
    return pane.isZero()
        ? duration
        : pane.multipliedBy(Math.ceilDiv(duration.toSeconds(), pane.toSeconds()));
  }

  private static String matchers(String selector) {
    String stripped = selector.strip();
    return stripped.startsWith("{") && stripped.endsWith("}")
        ? stripped.substring(1, stripped.length() - 1).strip()
        : stripped;
  }

  /** Reads headers as {@code curl -H @FILE} does. They may be secrets, so no message has a line. */
  private static Map<String, Secret> headers(String side, Path file) {
    if (file == null) {
      return Map.of();
    }
    Map<String, Secret> headers = new LinkedHashMap<>();
    String option = "--" + side + "-headers";
    try {
      ConfigException.check(
          Files.size(file) <= MAX_HEADER_BYTES, option, file, "must have at most 64 KiB");
      int number = 0;
      for (String line : Files.readAllLines(file)) {
        number++;
        if (CharMatcher.whitespace().matchesAllOf(line)) {
          continue;
        }
        Matcher header = HEADER.matcher(line.strip());
        ConfigException.check(
            header.matches(), option, file, "line " + number + " must be NAME: VALUE");
        headers.put(header.group(1), new Secret(header.group(2)));
      }
    } catch (IOException e) {
      throw new ConfigException(option, file, FileReason.unreadable(e));
    }
    return headers;
  }

  private void write(String page) throws IOException {
    try {
      Files.writeString(html, page);
    } catch (IOException e) {
      throw new IOException(
          "--html = " + html + ": cannot be written (" + FileReason.of(e) + ")", e);
    }
  }

  /** A number with its unit: {@code 30s}, {@code 10m}, {@code 2h}, {@code 1d}. */
  static final class DurationConverter implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      Matcher number = DURATION.matcher(text);
      if (!number.matches()) {
        throw new TypeConversionException(
            "'" + text + "' is not a number of seconds, minutes, hours or days, such as 30s or 1h");
      }
      return Duration.ofSeconds(
          Long.parseLong(number.group(1))
              * switch (number.group(2)) {
                case "s" -> 1;
                case "m" -> 60;
                case "h" -> 3_600;
                default -> 86_400;
              });
    }
  }

  private static final class TimeConverter implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return Instant.parse(text);
      } catch (DateTimeParseException e) {
        throw new TypeConversionException(
            "'" + text + "' is not a time in UTC, such as 2026-11-27T12:00:00Z");
      }
    }
  }
}
