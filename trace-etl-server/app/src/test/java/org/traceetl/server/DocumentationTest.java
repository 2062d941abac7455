package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Format;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.push.PushConfig;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.web.WebServer;

/** The documentation names what there is, and nothing else. */
final class DocumentationTest {
  private static final Path DOCS = Path.of("..", "..", "docs");
  private static final Pattern EXAMPLE =
      Pattern.compile("```yaml\n(# trace-etl-server\\.yaml.*?)```", Pattern.DOTALL);

  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  @TempDir private Path directory;

  @Test
  void examplesAreAccepted() throws Exception {
    List<String> examples =
        EXAMPLE
            .matcher(
                Files.readString(DOCS.resolve("configuration-server.md"))
                    + Files.readString(DOCS.resolve("install.md"))
                    + Files.readString(DOCS.resolve("operate.md"))
                    + Files.readString(DOCS.resolve("ozhera.md")))
            .results()
            .map(result -> result.group(1))
            .toList();

    assertThat(examples).isNotEmpty();
    for (String example : examples) {
      assertThat(read(example)).isNotNull();
    }
  }

  @Test
  void everyMetricStandsWithItsTypeAndHelp() throws Exception {
    String text = Files.readString(DOCS.resolve("metrics.md"));
    Map<String, String> types = new TreeMap<>();
    Map<String, String> helps = new TreeMap<>();
    // Those that there are with deltas alone, then all others.
    families(ownMetrics(new OzheraProfile()), types, helps);
    families(ownMetrics(StandardProfile.OTEL), types, helps);
    types
        .keySet()
        .removeIf(name -> {
          boolean javas = !name.startsWith("trace_etl_");
          boolean ofHalfEdges = name.startsWith("trace_etl_edges_");
          assertThat(ofHalfEdges || text.contains("`" + name + "`")).as(name).isTrue();
          return javas || ofHalfEdges;
        });

    write(types, helps);
    Map<String, String> rows =
        rows("metrics.md", "trace_etl_(?!agent_|canary_|edges_|slo_|queue`|shard`|form`).*");
    assertThat(rows).containsOnlyKeys(types.keySet());
    types.forEach(
        (name, type) -> assertThat(rows.get(name)).contains("| " + type + " |", helps.get(name)));
  }

  @Test
  void everyMetricOfObjectivesStandsWithItsHelp() throws Exception {
    ObjectiveConfig objective = new ObjectiveConfig("a", 99.0, null, null, null, null);
    Map<String, String> rows = rows("metrics.md", "trace_etl_slo_.*");

    assertThat(rows).hasSize(2);
    for (MeasureConfig each : List.of(objective.events(), objective.good())) {
      assertThat(rows.get(each.name() + "_total")).contains("| counter |", each.description());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"otel-text.txt", "tempo-text.txt"})
  void everySpanMetricStandsWithItsTypeAndHelp(String golden) throws Exception {
    Map<String, String> rows = rows("metrics.md", "traces_.*");
    Map<String, String> types = new TreeMap<>();
    Map<String, String> helps = new TreeMap<>();
    try (var page = DocumentationTest.class.getResourceAsStream("/golden/" + golden)) {
      families(new String(page.readAllBytes(), UTF_8), types, helps);
    }

    assertThat(types).hasSize(2);
    types.forEach(
        (name, type) -> assertThat(rows.get(name)).contains("| " + type + " |", helps.get(name)));
  }

  /** One row of the table has all metrics of a type of spans: counters, then histograms. */
  @Test
  void everyMetricOfOzherasStandsWithItsTypeLabelsAndBuckets() throws Exception {
    String document = Files.readString(DOCS.resolve("ozhera.md"));
    Map<String, String> types = new TreeMap<>();
    String page;
    try (var golden = DocumentationTest.class.getResourceAsStream("/golden/ozhera-text.txt")) {
      page = new String(golden.readAllBytes(), UTF_8);
    }
    families(page, types, new TreeMap<>());
    Map<String, String> documented = new TreeMap<>();
    documented.put("staging_trace_statistics_span_count_total", "counter");
    document
        .lines()
        .filter(line -> line.matches("\\|( [^|]*\\|){7} (calls|Redis|SQL) \\|"))
        .forEach(row -> {
          String[] cells = row.split(" *\\| *");
          for (int cell = 3; cell <= 7; cell++) {
            for (String name : names(cells[cell])) {
              boolean counter = cell < 7;
              String stored = "staging_hera_" + name + (counter ? "_total" : "");
              documented.put(stored, counter ? "counter" : "histogram");
              TreeSet<String> labels = names(cells[2]);
              if (name.endsWith("_without_methodName")) {
                labels.remove("methodName");
              } else if (name.equals("httpError") || name.equals("httpClientError")) {
                labels.add("errorCode");
              }
              TreeSet<Double> bounds = new TreeSet<>();
              assertThat(labels(page, stored, bounds)).as(stored).isEqualTo(labels);
              if (!counter) {
                assertThat(document).contains("| " + cells[8] + " | " + text(bounds) + " |");
              }
            }
          }
        });

    assertThat(documented).isEqualTo(types);
    assertThat(document).contains("`staging_trace_statistics_span_count_total`");
  }

  private static TreeSet<String> names(String cell) {
    return Pattern.compile("`(\\w+)`")
        .matcher(cell)
        .results()
        .map(name -> name.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The labels of a metric besides those that all have; its bounds are added. */
  private static TreeSet<String> labels(String page, String name, TreeSet<Double> bounds) {
    TreeSet<String> labels = new TreeSet<>();
    Pattern sample = Pattern.compile(name + "(?:_bucket|_sum|_count)?\\{(.*)\\} .*");
    page.lines()
        .map(sample::matcher)
        .filter(Matcher::matches)
        .flatMap(line -> LABEL.matcher(line.group(1)).results())
        .forEach(label -> {
          if (!label.group(1).equals("le")) {
            labels.add(label.group(1));
          } else if (!label.group(2).equals("+Inf")) {
            bounds.add(Double.parseDouble(label.group(2)));
          }
        });
    labels.removeAll(List.of("application", "serverIp", "serverEnv", "serverEnvId"));
    return labels;
  }

  private static String text(TreeSet<Double> bounds) {
    return bounds.stream()
        .map(bound -> bound < 1 ? bound.toString() : Long.toString(bound.longValue()))
        .collect(Collectors.joining(", "));
  }

  /** What other profiles have no use for is not on their pages. */
  @Test
  void onlyProfileOzheraHasItsOwnMetrics() {
    assertThat(ownMetrics(StandardProfile.OTEL)).doesNotContain("ozhera", "trace_etl_delta");
    assertThat(ownMetrics(new OzheraProfile())).contains("trace_etl_ozhera_rules_refused");
  }

  /**
   * As OpenMetrics: the other format leaves out families without samples. With the label that
   * hotspots need, and half-edges.
   */
  private String ownMetrics(Profile profile) {
    ServerConfig d = ServerConfig.defaults();
    IndexConfig index = IndexConfig.of(IndexConfig.Lucene.in(directory.resolve("index")));
    PushConfig push =
        PushConfig.to(List.of(PushConfig.Endpoint.at(URI.create("http://localhost:1/write"))));
    try (var server =
        ServerAssembly.assemble(
            new ServerConfig(
                d.rocketmq(),
                d.journal(),
                d.window(),
                null,
                profile.histogram(),
                d.documents(),
                new MetricsConfig(profile, null, null, QueueLabel.ALWAYS, null, null, null),
                Map.of("index", index, "push", push),
                Map.of("ozhera", new OzheraConfig(null, null, null, List.of("prometheus"), null)),
                null,
                null,
                null,
                new EdgesConfig(true, null, null, null, null, null, null, null, null),
                null,
                d.web(),
                d.drainWithin()),
            ServerPlatform.system())) {
      return new String(server.telemetry().families(Format.OPENMETRICS), UTF_8);
    }
  }

  private ServerConfig read(String yaml) throws IOException {
    Path file = Files.writeString(directory.resolve("trace-etl-server.yaml"), yaml);
    return WebServer.check(List.of("--spring.config.additional-location=" + file.toUri()));
  }

  /** Types and help texts by the name that Prometheus stores. */
  private static void families(String page, Map<String, String> types, Map<String, String> helps) {
    Matcher family =
        Pattern.compile(
                "# HELP (\\S+) (.*)\n# TYPE \\1 (\\S+)|# TYPE (\\S+) (\\S+)\n# HELP \\4 (.*)")
            .matcher(page);
    while (family.find()) {
      boolean helpFirst = family.group(1) != null;
      String type = family.group(helpFirst ? 3 : 5);
      String name = stored(family.group(helpFirst ? 1 : 4), type);
      types.put(name, type);
      helps.put(name, family.group(helpFirst ? 2 : 6));
    }
  }

  /** OpenMetrics leaves the ending to the samples. */
  private static String stored(String family, String type) {
    return switch (type) {
      case "counter" -> family.endsWith("_total") ? family : family + "_total";
      case "info" -> family + "_info";
      default -> family;
    };
  }

  /** With {@code -Dtraceetl.docs.write=true}: types and help texts into the rows. */
  private static void write(Map<String, String> types, Map<String, String> helps)
      throws IOException {
    if (Boolean.getBoolean("traceetl.docs.write")) {
      String text = Files.readString(DOCS.resolve("metrics.md"));
      for (Map.Entry<String, String> type : types.entrySet()) {
        String row = "| `" + type.getKey() + "` | ";
        text =
            text.replaceAll(
                "(?m)^" + Pattern.quote(row) + "[^|]*\\| ([^|]*)\\|.*$",
                Matcher.quoteReplacement(row + type.getValue() + " | ")
                    + "$1"
                    + Matcher.quoteReplacement("| " + helps.get(type.getKey()) + " |"));
      }
      Files.writeString(DOCS.resolve("metrics.md"), text);
    }
  }

  /** Rows of tables by the name that stands first in them. */
  private static Map<String, String> rows(String file, String name) throws IOException {
    Map<String, String> rows = new TreeMap<>();
    Pattern row = Pattern.compile("\\| `(" + name + "?)` \\|.*");
    try (Stream<String> lines = Files.lines(DOCS.resolve(file))) {
      lines.forEach(
          line -> row.matcher(line).results().forEach(match -> rows.put(match.group(1), line)));
    }
    return rows;
  }
}
