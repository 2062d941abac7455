package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code import} prints, and that the server's own reader accepts it. */
class ImportCommandTest {
  private static final Path EXAMPLES = Path.of("src/test/resources/org/traceetl/server/migration");

  @TempDir private Path directory;

  private StringWriter out = new StringWriter();
  private StringWriter err = new StringWriter();

  @ParameterizedTest
  @CsvSource({
    "--collector, collector-defaults",
    "--collector, collector-full",
    "--collector, collector-exponential",
    "--collector, collector-signals",
    "--tempo, tempo-defaults",
    "--tempo, tempo-full",
    "--tempo, tempo-filters",
  })
  void examplesAreTranslated(String option, String example) throws IOException {
    Path file = EXAMPLES.resolve(example + ".yaml");
    List<String> arguments = new ArrayList<>(List.of("import", option, file.toString()));
    if (example.equals("collector-full")) {
      arguments.addAll(List.of("--connector", "span_metrics/shop"));
    }

    assertThat(run(arguments.toArray(String[]::new))).isZero();

    assertThat(out.toString())
        .isEqualTo(Files.readString(EXAMPLES.resolve(example + ".server.yaml")));
    assertThat(err.toString().replace(EXAMPLES + "/", ""))
        .isEqualTo(Files.readString(EXAMPLES.resolve(example + ".gaps.txt")));
    assertReaderAccepts(out.toString());
  }

  @Test
  void noSecretIsPrinted() {
    run("import", "--tempo", EXAMPLES.resolve("tempo-defaults.yaml").toString());
    run("import", "--tempo", EXAMPLES.resolve("tempo-full.yaml").toString());

    assertThat(out + "" + err).doesNotContain("hush");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "connectors: {spanmetrics: {novel: 1}} | connectors.spanmetrics.novel = 1",
        "connectors: {spanmetrics: {histogram: {novel: 1}}} | connectors.spanmetrics.histogram.novel",
        "connectors: {spanmetrics: {histogram: {explicit: {novel: 1}}}} | histogram.explicit.novel",
        "connectors: {spanmetrics: {histogram: {exponential: {novel: 1}}}} | exponential.novel",
        "connectors: {spanmetrics: {exemplars: {novel: [1]}}} | exemplars.novel = [1]",
        "connectors: {spanmetrics: {events: {novel: {}}}} | events.novel = a section",
        "connectors: {spanmetrics: {dimensions: [{name: a, novel: 1}]}} | dimensions[0].novel = 1",
        "connectors: {signaltometrics: {novel: 1, spans: [{sum: {value: 1}}]}} | connectors.signaltometrics.novel",
        "connectors: {signaltometrics: {spans: [{novel: 1, sum: {value: 1}}]}} | spans[0].novel",
        "connectors: {spanmetrics: , novel: } | connectors.novel",
        "connectors: {spanmetrics: , service_graph: } | trace-etl has no service graph",
        "connectors: {spanmetrics: , signaltometrics: } | --connector signaltometrics",
      })
  void eachUnknownKeyOfTheCollectorIsNamed(String yaml, String gap) throws IOException {
    assertThat(run("import", "--collector", file(yaml))).isZero();
    assertThat(err.toString()).contains(gap.strip());
    assertReaderAccepts(out.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "metrics_generator: {novel: 1} | metrics_generator.novel = 1",
        "metrics_generator: {registry: {novel: 1}} | metrics_generator.registry.novel",
        "metrics_generator: {processor: {novel: {}}} | metrics_generator.processor.novel",
        "metrics_generator: {processor: {span_metrics: {novel: 1}}} | processor.span_metrics.novel",
        "metrics_generator: {processor: {span_metrics: {intrinsic_dimensions: {novel: true}}}} | intrinsic_dimensions.novel",
        "overrides: {defaults: {metrics_generator: {novel: 1}}} | overrides.defaults.metrics_generator.novel",
        "overrides: {defaults: {metrics_generator: {processors: [novel]}}} | processors[0] = novel",
        "overrides: {defaults: {metrics_generator: {processor: {novel: 1}}}} | metrics_generator.processor.novel",
      })
  void eachUnknownKeyOfTempoIsNamed(String yaml, String gap) throws IOException {
    assertThat(run("import", "--tempo", file(yaml))).isZero();
    assertThat(err.toString()).contains(gap.strip());
    assertReaderAccepts(out.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | : is empty",
        "just a text | : is not a configuration: it has no keys",
        "- a list | : is not a configuration: it has no keys",
        "a: [1 | :1: is not YAML: expected ',' or ']', but got <stream end>",
        "receivers: {} | : connectors: must have a connector span_metrics or signal_to_metrics",
        "connectors: {servicegraph: } | must have a connector span_metrics or signal_to_metrics; it has servicegraph",
        "connectors: [spanmetrics] | :1: connectors = [spanmetrics]: must be a section of keys",
        "connectors: {spanmetrics: text} | :1: connectors.spanmetrics = text: must be a section of keys",
        "connectors: {spanmetrics: {dimensions: {name: a}}} | :1: connectors.spanmetrics.dimensions = a section: must be a list",
        "connectors: {spanmetrics: {dimensions: [a]}} | dimensions[0] = a: must be a section of keys",
        "connectors: {spanmetrics: {dimensions: [{default: a}]}} | dimensions[0] = a section: must have a name or a glob",
        "connectors: {spanmetrics: {namespace: [a]}} | namespace = [a]: must be a text",
        "connectors: {spanmetrics: {namespace: '${env:NS}'}} | namespace = ${env:NS}: has a variable; replace it by its value and import again",
        "connectors: {spanmetrics: {dimensions: '${file:d.yaml}'}} | must be a list; replace the variable by its value and import again",
        "connectors: {spanmetrics: {metrics_flush_interval: soon}} | metrics_flush_interval = soon: must be a duration, such as 500ms, 15s or 10m",
        "connectors: {spanmetrics: {metrics_flush_interval: -1s}} | metrics_flush_interval = -1s: must be a duration",
        "connectors: {spanmetrics: {aggregation_cardinality_limit: many}} | aggregation_cardinality_limit = many: must be a number",
        "connectors: {spanmetrics: {histogram: {unit: h}}} | histogram.unit = h: must be ms or s",
        "connectors: {spanmetrics: {exemplars: {enabled: maybe}}} | exemplars.enabled = maybe: must be true or false",
        "connectors: {spanmetrics: {namespace: a, namespace: b}} | connectors.spanmetrics = namespace: must not occur twice",
        "connectors: {spanmetrics: {? [a] : b}} | must have texts as keys",
        "connectors: {spanmetrics: &a {dimensions: [*a]}} | must have a name or a glob",
        "connectors: {spanmetrics: {dimensions: [{name: \"a\\e[2J\"}]}} | must not have control characters",
        "connectors: {signaltometrics: } | connectors.signaltometrics.spans: must have a metric of spans",
      })
  void invalidFilesOfTheCollectorAreRefused(String yaml, String message) throws IOException {
    assertRefused(message, "import", "--collector", file(yaml));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "server: {} | metrics_generator: must be present, or overrides.defaults.metrics_generator",
        "overrides: {metrics_generator_processors: [span-metrics]} | :1: overrides.metrics_generator_processors = [span-metrics]: has the old form",
        "metrics_generator: [] | metrics_generator = []: must be a section of keys",
        "overrides: {defaults: {metrics_generator: {generate_native_histograms: few}}} | generate_native_histograms = few: must be classic, native or both",
        "overrides: {defaults: {metrics_generator: {generate_native_histograms: both, native_histogram_bucket_factor: 1}}} | must be above 1",
        "metrics_generator: {processor: {span_metrics: {histogram_buckets: [a]}}} | histogram_buckets[0] = a: must be a number",
        "metrics_generator: {processor: {span_metrics: {dimension_mappings: [{name: a}]}}} | must have name and source_labels",
        "metrics_generator: {processor: {span_metrics: {filter_policies: [{exclude: {match_type: odd}}]}}} | match_type = odd: must have match_type strict or regex",
        "metrics_generator: {processor: {span_metrics: {filter_policies: [{exclude: {match_type: regex, attributes: [{key: kind, value: '('}]}}]}}} | must be a regular expression",
      })
  void invalidFilesOfTempoAreRefused(String yaml, String message) throws IOException {
    assertRefused(message.strip(), "import", "--tempo", file(yaml));
  }

  @Test
  void hugeFilesAreRefused() throws IOException {
    assertRefused("is longer than 1 MiB", "import", "--collector", file("#".repeat((1 << 20) + 1)));
  }

  @Test
  void deepFilesAreRefused() throws IOException {
    assertRefused(
        "is not YAML",
        "import",
        "--collector",
        file("a: " + "[".repeat(10_000) + "]".repeat(10_000)));
  }

  @Test
  void expandingAliasesAreRefused() throws IOException {
    StringBuilder bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
      bomb.append("a" + i + ": &a" + i + " [").append(("*a" + (i - 1) + ", ").repeat(9));
      bomb.append("x]\n");
    }
    assertRefused(
        "Number of aliases for non-scalar nodes exceeds",
        "import",
        "--collector",
        file(bomb + "connectors: {spanmetrics: {dimensions: *a9}}"));
  }

  /** 2^24 sections if each were read as often as it is named. */
  @Test
  void expandingMergesAreReadOnce() throws IOException {
    StringBuilder bomb = new StringBuilder("a0: &a0 {namespace: merged}\n");
    for (int i = 1; i < 25; i++) {
      bomb.append("a%d: &a%d {<<: [*a%d, *a%d]}\n".formatted(i, i, i - 1, i - 1));
    }
    assertThat(run("import", "--collector", file(bomb + "connectors: {spanmetrics: *a24}")))
        .isZero();
    assertThat(out.toString()).contains("namespace: merged");
  }

  @Test
  void bytesThatAreNoTextAreRefused() throws IOException {
    byte[] bytes = new byte[4_096];
    new Random(7).nextBytes(bytes);
    Path file = Files.write(directory.resolve("random.yaml"), bytes);
    assertRefused("is not YAML", "import", "--tempo", file.toString());
  }

  /** A terminal must not obey what a file contains. */
  @Test
  void controlCharactersOfKeysAreNotPrinted() throws IOException {
    String odd = "\"spanmetrics/\\e[2J\\ntrace-etl: 1\\u2028x: 2\"";
    assertThat(run("import", "--collector", file("connectors: {" + odd + ": {\"\\e[2J\": 1}}")))
        .isZero();
    assertThat(out + "" + err).doesNotContain("\u001b", "\u2028").contains("?[2J");
    assertReaderAccepts(out.toString());
  }

  @Test
  void wrongOptionsAreRefused() throws IOException {
    String file = file("connectors: {spanmetrics: , spanmetrics/b: }");
    assertRefused("Missing required argument", "import");
    assertRefused("mutually exclusive", "import", "--collector", file, "--tempo", file);
    assertRefused("--connector requires --collector", "import", "--tempo", file, "--connector=b");
    assertRefused(
        "--connector = c: must be one of spanmetrics, spanmetrics/b",
        "import",
        "--collector",
        file,
        "--connector=c");
    assertRefused("cannot be read", "import", "--tempo", directory.resolve("none").toString());
    assertRefused("cannot be read", "import", "--tempo", directory.toString());
    assertRefused("Unknown option: '--novel'", "import", "--novel", "--tempo", file);
  }

  @Test
  void theConnectorThatAPipelineUsesIsTranslated() throws IOException {
    String file =
        file(
            """
            connectors:
              spanmetrics: {namespace: unused}
              spanmetrics/b: {namespace: used}
            service: {pipelines: {traces: {exporters: [spanmetrics/b]}}}
            """);
    run("import", "--collector", file);
    assertThat(out.toString()).contains("namespace: used").doesNotContain("namespace: unused");
    run("import", "--collector", file, "--connector", "spanmetrics");
    assertThat(out.toString()).contains("namespace: unused");
  }

  @Test
  void helpNamesOptionsAndExitCodes() {
    assertThat(run("import", "--help")).isZero();
    assertThat(out.toString())
        .contains("--collector=FILE", "--tempo=FILE", "--connector=NAME", "Exit codes: 0 ", "; 2 ");
    run("--help");
    assertThat(out.toString()).contains("import");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "true",
        "\"\"",
        "1e3",
        "~",
        "le",
        "__x",
        "_",
        "é",
        "a b",
        "trace_etl_queue",
        "trace_etl_form",
        "event.name",
        "'#{1}'",
        "0",
        "otel.metric.overflow",
        "exception.type",
        "status_code",
        "'a: b'",
        "'- a'",
        "'''a'"
      })
  void readerAcceptsAnyNameOfADimension(String name) throws IOException {
    String yaml =
        """
        connectors:
          spanmetrics:
            namespace: NAME
            dimensions: [{name: b.NAME}, {name: 'x'}, {name: x}]
            events: {enabled: true, dimensions: [{name: exception.type}, {name: NAME}]}
            calls_dimensions: [{name: NAME}]
        """
            .replace("b.NAME", "b")
            .replace("NAME", name);
    if (run("import", "--collector", file(yaml)) == 0) {
      assertReaderAccepts(out.toString());
    } else {
      assertThat(name).isIn("\"\"", "null", "~");
      assertThat(err.toString()).contains("must have a name or a glob");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1ns | [0s]",
        "876000h | [1ns, 1ns, 0.4ns, 9000h]",
        "0 | [2s, 1s]",
        "100ms | []",
        "1.0000001s | [1.5us]",
      })
  void readerAcceptsAnyDuration(String duration, String buckets) throws IOException {
    String yaml =
        """
        connectors:
          spanmetrics:
            metrics_flush_interval: DURATION
            series_expiration: DURATION
            metrics_expiration: DURATION
            histogram: {explicit: {buckets: BUCKETS}}
        """
            .replace("DURATION", duration.strip())
            .replace("BUCKETS", buckets.strip());
    assertThat(run("import", "--collector", file(yaml))).as(err.toString()).isZero();
    assertReaderAccepts(out.toString());
  }

  @Test
  void readerAcceptsAnyNumberOfDimensionsAndBuckets() throws IOException {
    StringBuilder yaml = new StringBuilder("connectors:\n  spanmetrics:\n    dimensions:\n");
    for (int i = 0; i < 100; i++) {
      yaml.append("      - name: d" + i + "\n");
    }
    yaml.append("    events: {enabled: true, dimensions: [{name: e}]}\n");
    yaml.append("    histogram: {explicit: {buckets: [1ms");
    for (int i = 2; i <= 300; i++) {
      yaml.append(", " + i + "ms");
    }
    yaml.append("]}}\n");
    assertThat(run("import", "--collector", file(yaml.toString()))).isZero();
    assertThat(err.toString()).contains("has at most 32", "loses 44 of its bounds");
    assertReaderAccepts(out.toString());
  }

  private void assertRefused(String message, String... arguments) {
    assertThat(run(arguments)).isEqualTo(2);
    assertThat(err.toString()).contains(message).doesNotContain("\tat ");
    assertThat(out.toString()).isEmpty();
  }

  private void assertReaderAccepts(String yaml) throws IOException {
    Path file = Files.writeString(directory.resolve("trace-etl-server.yaml"), yaml);
    assertThat(run("--check-config", "--config=" + file)).as("%s%n%s", err, yaml).isZero();
  }

  private String file(String yaml) throws IOException {
    return Files.writeString(directory.resolve("source.yaml"), yaml).toString();
  }

  private int run(String... arguments) {
    out = new StringWriter();
    err = new StringWriter();
    return TraceEtlServer.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
