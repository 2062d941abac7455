package org.traceetl.server.binding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MeasureConfig.Source;
import org.traceetl.server.config.MeasureConfig.Type;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.rules.Rules;

/** What a file of rules may contain, and what is said of anything else. */
final class RulesFileTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("```yaml\n(# rules\\.yaml.*?)```", Pattern.DOTALL);

  private static final Pattern LIVE =
      Pattern.compile("```yaml\n(# live\\.yaml.*?)```", Pattern.DOTALL);
  private static final Path MEASURES = Path.of("../../docs/measures.md");
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "configuration-server.md");

  private ServerConfig config = ServerConfig.defaults();
  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void name() {
    file = directory.resolve("rules.yaml");
  }

  private Rules read(String content) throws IOException {
    Files.writeString(file, content);
    return RulesFile.read(file, config);
  }

  /** The problems; {@code FILE} is the file. */
  private List<String> problems(String content) throws IOException {
    Files.writeString(file, content);
    return problems();
  }

  private List<String> problems() {
    ConfigurationRefused refused =
        catchThrowableOfType(ConfigurationRefused.class, () -> RulesFile.read(file, config));
    assertThat(refused).isNotNull();
    return refused.getMessage().replace(file.toString(), "FILE").lines().toList();
  }

  @Test
  void documentedExampleIsRead() throws Exception {
    Matcher example = EXAMPLE.matcher(Files.readString(DOCUMENT));
    assertThat(example.find()).isTrue();

    Rules rules = read(example.group(1));

    EffectiveRules checkout = rules.of("checkout-eu", config.rules());
    Dimension route = new Dimension("http.route", null, null);
    assertThat(rules.revision()).isEqualTo(12);
    assertThat(checkout)
        .isEqualTo(
            new EffectiveRules(
                List.of(route, new Dimension("cloud.region", "region", From.RESOURCE)),
                List.of(new TemplatesConfig.Rule(null, "job [^ ]+", "job {name}")),
                new HistogramConfig(
                    List.of(5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1_000.0), Kind.BOTH, null),
                Unit.SECONDS,
                config.documents().slowerThan(),
                config.documents().thresholds(),
                List.of()));
    assertThat(rules.of("cart", config.rules()))
        .isEqualTo(
            new EffectiveRules(
                List.of(route),
                List.of(),
                config.histogram(),
                config.metrics().unit(),
                config.documents().slowerThan(),
                config.documents().thresholds(),
                List.of()));
  }

  @Test
  void emptyListReplacesThatOfTheDefaults() throws Exception {
    Rules rules =
        read(
            """
            revision: 1
            defaults: {series.dimensions: [{attribute: region}]}
            applications:
              - {application: "*", series: {dimensions: []}}
            """);

    assertThat(rules.of("shop", config.rules()).dimensions()).isEmpty();
  }

  @Test
  void placeholdersAreText() throws Exception {
    Rules rules =
        read(
            """
            revision: 1
            defaults:
              series.templates.patterns: [{pattern: "a.*", template: "${user.name} $0"}]
            """);

    assertThat(rules.of("shop", config.rules()).templates().getFirst().template())
        .isEqualTo("${user.name} $0");
  }

  @Test
  void allProblemsAreNamedWithTheirLines() throws Exception {
    assertThat(
            problems(
                """
                revision: soon
                defaults:
                  series:
                    max: 7
                    dimensions:
                      - attribute: region
                        label: "1"
                  histogram:
                    kind: round
                metrics:
                  - name: orders
                applications:
                  - application: shop
                    histogram:
                      bounds-millis: [5, 4]
                    metrics:
                      - name: orders
                  - metrics:
                      unit: days
                  - documents: {per-series: 1}
                """))
        .containsExactlyInAnyOrder(
            "metrics[0].name: is not a key of rules; FILE:11",
            "revision = soon: must be a whole number of 1 or more; FILE:1",
            "defaults.series.dimensions[0].label = 1: must be a Prometheus label: letters, digits"
                + " and _, no leading digit or __, not le; FILE:7",
            "defaults.histogram.kind = round: must be one of classic, native, both; FILE:9",
            "defaults.series.max: is not a key of rules; FILE:4",
            "applications[0].histogram.bounds-millis = [5.0, 4.0]: must be ascending, above 0 and"
                + " at most one year, with at least one nanosecond between two bounds; FILE:15",
            "applications[0].metrics[0].name: is not a key of rules; FILE:17",
            "applications[1].metrics.unit = days: must be one of milliseconds, seconds; FILE:19",
            "applications[1].application: must be the name of an application, with * as wildcard;"
                + " FILE:19",
            "applications[2].documents.per-series: is not a key of rules; FILE:20",
            "applications[2].application: must be the name of an application, with * as wildcard;"
                + " FILE:20");
  }

  @Test
  void listsAreCheckedPastARefusedItem() throws Exception {
    assertThat(
            problems(
                """
                revision: 1
                defaults:
                  objectives:
                    - {name: bad name, target: 99}
                    - name: x
                      target: 100
                    - {target: 99}
                    - {name: ok, target: 99, faster: 3s}
                    - name: y
                      target: 98
                      kinds:
                        - srv
                        - client
                        - clint
                      faster: 4s
                    - kinds: [srv]
                    - name: ok
                      target: 99
                      window: 3d
                    - {name: z, target: 0}
                  histogram:
                    bounds-millis: [5, x, 3, y]
                """))
        .containsExactlyInAnyOrder(
            "defaults.objectives[0].name = bad name: must have 1 to 63 letters, digits, _ and -,"
                + " the first a letter or digit; FILE:4",
            "defaults.objectives[1].target = 100.0: must be the percent of good events, above 0 and"
                + " below 100, such as 99.9; FILE:6",
            "defaults.objectives[2].name: must have 1 to 63 letters, digits, _ and -, the first a"
                + " letter or digit; FILE:7",
            "defaults.objectives[3].faster: is not a key of rules; FILE:8",
            "defaults.objectives[4].kinds[0] = srv: must be one of unspecified, internal, server,"
                + " client, producer, consumer; FILE:12",
            "defaults.objectives[4].kinds[2] = clint: must be one of unspecified, internal, server,"
                + " client, producer, consumer; FILE:14",
            "defaults.objectives[4].faster: is not a key of rules; FILE:15",
            "defaults.objectives[5].kinds[0] = srv: must be one of unspecified, internal, server,"
                + " client, producer, consumer; FILE:16",
            "defaults.objectives[6].window = 3d: must be 7 to 90 whole days, such as 30d; FILE:19",
            "defaults.objectives[7].target = 0.0: must be the percent of good events, above 0 and"
                + " below 100, such as 99.9; FILE:20",
            "defaults.histogram.bounds-millis[1] = x: must be a number; FILE:22",
            "defaults.histogram.bounds-millis[3] = y: must be a number; FILE:22");
  }

  @Test
  void ofALongListOnlyTheFirstItemsAreChecked() throws Exception {
    assertThat(
            problems("revision: 1\ndefaults:\n  objectives:\n" + "  - {target: 9}\n".repeat(200)))
        .hasSize(100)
        .allMatch(problem -> problem.contains(".name: must have 1 to 63 letters"))
        .last()
        .asString()
        .endsWith("; FILE:103");
  }

  @Test
  void wrongKeysDoNotHideEachOther() throws Exception {
    assertThat(
            problems(
                """
                revision: 1
                defaults:
                  series:
                    dimensions: []
                  histogram:
                    kind: classic
                    bounds-millis: [5, 3]
                  objectives:
                    - {name: a, target: 9}
                    - target: 9
                      name: a
                applications:
                  - application: shop
                    metrics:
                      unit: seconds
                    histogram:
                      native-schema: 9
                    measures:
                      - {name: a, value: one}
                      - name: traces.a
                        value: one
                      - name: a
                        value: one
                        unit: By
                """))
        .containsExactlyInAnyOrder(
            "defaults.histogram.bounds-millis = [5.0, 3.0]: must be ascending, above 0 and at most"
                + " one year, with at least one nanosecond between two bounds; FILE:7",
            "defaults.objectives[1].name = a: must not occur twice in the objectives of an"
                + " application; FILE:11",
            "applications[0].histogram.native-schema = 9: must be -4 to 8; FILE:17",
            "applications[0].measures[2].name = a: must be another name, also in Prometheus, or have"
                + " the description, unit, type, value and bounds of the measure with the same name;"
                + " FILE:22");
  }

  @Test
  void rulesMustAgreeWithEachOther() {
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                applications:
                  - application: a
                    objectives: [{name: r, target: 99}]
                  - application: b
                    objectives:
                      - {name: s, target: 98}
                      - {name: r, target: 98}
                  - application: c
                    objectives: [{name: r, target: 99, window: 7d}]
                """))
        .containsExactly(
            "applications[1].objectives[1].name = r: must have the same target and window in all"
                + " rules; choose another name; FILE:8",
            "applications[2].objectives[0].name = r: must have the same target and window in all"
                + " rules; choose another name; FILE:10");
  }

  @Test
  void textsThatServersCannotPublishAreNamedWithTheirLines() {
    String longText = "a".repeat(300);
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                defaults:
                  metrics.unit: seconds
                  series.dimensions:
                    - attribute: %s
                applications:
                  - application: %s
                """
                    .formatted(longText, longText)))
        .containsExactly(
            "defaults.series.dimensions.attribute = "
                + longText
                + ": must have 1 to 256 bytes of UTF-8; FILE:5",
            "applications[0].application = "
                + longText
                + ": must have 1 to 256 bytes of UTF-8; FILE:7");
  }

  @Test
  void rulesMustBeValidWithTheConfiguration() throws Exception {
    assertThat(
            problems(
                """
                revision: 1
                applications:
                  - application: bank
                    series.dimensions: [{attribute: ok}]
                  - application: shop
                    series.dimensions: [{attribute: span.name}]
                """))
        .containsExactly(
            "applications[1].series.dimensions[0].label = span_name: is a label of every series;"
                + " configure for attribute span.name another label; FILE:6");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''| revision: must be a whole number of 1 or more; FILE",
        "revision: 0| revision = 0: must be a whole number of 1 or more; FILE:1",
        "revision: 1\\ndefaults: 7| defaults: must be a section of keys; FILE:2",
        "revision: 1\\napplications: [7]| applications[0]: must be a section of keys; FILE:2",
        "revision: 1\\nrevision: 2| --rules = FILE:2: is not YAML: found duplicate key revision",
        "a: [| --rules = FILE:2: is not YAML: expected the node content, but found '<stream end>'",
        "revision: 1\\n---\\nrevision: 2"
            + "| --rules = FILE: has 2 YAML documents; only one is allowed",
        "a: &a [1]\\nb: *a| --rules = FILE:2: must have no aliases (*name)",
      })
  void fileThatIsNoRulesIsRefused(String content, String problem) throws Exception {
    assertThat(problems((content.isEmpty() ? "" : content + "\n").replace("\\n", "\n")))
        .containsExactly(problem);
  }

  @Test
  void aliasesAreRefusedInEachEncoding() throws Exception {
    Files.writeString(file, "a: &a [1]\nb: *a\n", StandardCharsets.UTF_16);

    assertThat(problems()).containsExactly("--rules = FILE:2: must have no aliases (*name)");
  }

  /** Small files that would need much memory: each key of the result contains those above it. */
  @Test
  void filesThatNeedMuchMemoryAreRefused() throws Exception {
    assertThat(problems("? " + "a".repeat(1_025) + "\n: [1]\n"))
        .containsExactly("--rules = FILE:1: must have keys and values of at most 1024 characters");
    assertThat(problems("a: " + "[".repeat(11) + "]".repeat(11) + "\n"))
        .containsExactly("--rules = FILE:1: must have at most 10 levels");
    assertThat(problems("a:\n" + "- 1\n".repeat(20_000)))
        .containsExactly("--rules = FILE:20001: must have at most 20000 keys and values");
  }

  @Test
  void boundsAreChecked() throws Exception {
    assertThat(problems("revision: 1\n#" + "a".repeat(1 << 20)))
        .containsExactly("--rules = FILE: must be at most 1 MiB");
    assertThat(problems("revision: 1\napplications:\n" + "- {application: shop}\n".repeat(257)))
        .containsExactly("applications = 257 of them: must be at most 256; FILE:259");
    file = directory;
    assertThat(problems()).containsExactly("--rules = FILE: must be a readable file");
    file = Files.createFile(directory.resolve("rules.txt"));
    assertThat(problems()).containsExactly("--rules = FILE: must end in .yaml or .yml");
  }

  @Test
  void documentedRulesApply() throws Exception {
    Matcher example = LIVE.matcher(Files.readString(DOCUMENT));
    assertThat(example.find()).isTrue();

    Rules rules = RulesFile.parseApplied(file, example.group(1).getBytes(UTF_8), config);

    EffectiveRules checkout = rules.of("checkout-eu", config.rules());
    assertThat(rules.revision()).isEqualTo(13);
    assertThat(checkout.slowerThan()).isEqualTo(Duration.ofMillis(200));
    assertThat(checkout.thresholds())
        .containsExactly(new Threshold(null, Set.of(SpanKind.CONSUMER), Duration.ofSeconds(30)));
    assertThat(checkout.dimensions())
        .containsExactly(
            new Dimension("http.route", null, null),
            new Dimension("cloud.region", "region", From.RESOURCE));
  }

  @Test
  void bucketsAndUnitsApplyIfSeriesHaveRoom() {
    String content =
        """
        revision: 1
        defaults:
          metrics.unit: seconds
        applications:
          - application: shop
            histogram: {kind: both, native-schema: 2, bounds-millis: [1, 2]}
        """;
    EffectiveRules shop =
        RulesFile.parseApplied(file, content.getBytes(UTF_8), config).of("shop", config.rules());
    assertThat(shop.histogram())
        .isEqualTo(new HistogramConfig(List.of(1.0, 2.0), HistogramConfig.Kind.BOTH, 2));
    assertThat(shop.unit()).isEqualTo(MetricsConfig.Unit.SECONDS);
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                applications:
                  - application: shop
                    histogram.bounds-millis: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
                """))
        .singleElement()
        .asString()
        .startsWith("applications[0].histogram.bounds-millis = 17 of them: must be at most 16")
        .endsWith("; FILE:4");
  }

  @Test
  void documentedMeasuresApply() throws Exception {
    Matcher example = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(Files.readString(MEASURES));
    assertThat(example.find()).isTrue();

    Rules rules = RulesFile.parseApplied(file, example.group(1).getBytes(UTF_8), config);

    List<MeasureConfig> measures = rules.of("shop", config.rules()).measures();
    assertThat(measures)
        .extracting(MeasureConfig::name, MeasureConfig::type, MeasureConfig::value)
        .containsExactly(
            tuple("http.server.request.duration", Type.HISTOGRAM, Source.DURATION),
            tuple("db.client.operation.duration", Type.HISTOGRAM, Source.DURATION),
            tuple("gen_ai.client.token.usage", Type.HISTOGRAM, Source.ATTRIBUTE),
            tuple("gen_ai.client.token.usage", Type.HISTOGRAM, Source.ATTRIBUTE));
    assertThat(measures)
        .extracting(each -> MeasureConfig.prometheusName(each.name(), each.unit()))
        .containsExactly(
            "http_server_request_duration_seconds",
            "db_client_operation_duration_seconds",
            "gen_ai_client_token_usage",
            "gen_ai_client_token_usage");
    assertThat(measures.getFirst().bounds()).hasSize(14);
    assertThat(measures.getFirst().attributes())
        .contains("http.request.method", "http.route", "error.type");
  }

  @Test
  void objectivesThatCannotApplyAreRefusedWithTheirLine() throws Exception {
    Map<String, String> problems =
        Map.of(
            "{name: a b, target: 99}",
            "[0].name = a b: must have 1 to 63 letters, digits, _ and -, the first a letter or digit",
            "{name: a, target: 0}",
            "[0].target = 0.0: must be the percent of good events, above 0 and below 100, such as 99.9",
            "{name: a}",
            "[0].target: must be the percent of good events, above 0 and below 100, such as 99.9",
            "{name: a, target: 99, faster-than: 0s}",
            "[0].faster-than = 0s: must be a duration above 0, such as 300ms, at most 365 days",
            "{name: a, target: 99, window: 36h}",
            "[0].window = 36h: must be 7 to 90 whole days, such as 30d",
            "{name: a, target: 99, window: 6d}",
            "[0].window = 6d: must be 7 to 90 whole days, such as 30d",
            "{name: a, target: 99, goal: 1}",
            "[0].goal: is not a key of rules",
            "{name: a, target: 99}, {name: a, target: 98}",
            "[1].name = a: must not occur twice in the objectives of an application");
    for (Map.Entry<String, String> each : problems.entrySet()) {
      assertThat(problems("revision: 1\ndefaults:\n  objectives: [" + each.getKey() + "]\n"))
          .containsExactly("defaults.objectives" + each.getValue() + "; FILE:3");
    }
  }

  @Test
  void measuresThatApplyAreCheckedAsThoseOfTheConfiguration() {
    String many = "{name: a, value: one}, ".repeat(17);
    String bounds =
        IntStream.rangeClosed(1, 17).mapToObj(String::valueOf).collect(Collectors.joining(", "));
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                applications:
                  - application: a
                    measures: [{name: "1a"}]
                  - application: b
                    measures: [{name: a, value: attribute}]
                  - application: c
                    measures: [{name: a, attribute: b, type: histogram}]
                  - application: d
                    measures: [{name: a, unit: min}]
                  - application: e
                    measures: [{name: a, dimensions: [{attribute: span_kind}]}]
                  - application: f
                    measures: [{name: a, value: one}, {name: a, value: one, unit: By}]
                  - application: g
                    measures: [{name: a.b, value: one}, {name: a_b, value: one}]
                  - application: h
                    measures: [{name: traces.span.metrics.calls, value: one}]
                  - application: i
                    measures: [{name: a.count, value: one}]
                  - application: j
                    measures: [{name: a, bounds: [2, 1]}]
                  - application: k
                    measures: [{name: traces.service.graph.request, value: one}]
                  - application: l
                    measures: [{name: a, value: one, unit: total}]
                  - application: m
                    measures: [{name: a, value: one, unit: "a;b"}]
                  - application: n
                    measures: [{name: a, value: one, dimensions: [{attribute: trace_etl_form}]}]
                  - application: o
                    measures: [%s]
                """
                    .formatted(many)))
        .satisfiesExactly(
            problem -> assertThat(problem).contains("name = 1a: must name a metric"),
            problem -> assertThat(problem).contains("attribute: must name an attr"),
            problem -> assertThat(problem).contains("bounds: must be 1 to 64"),
            problem -> assertThat(problem).contains("unit = min: must be s or ms"),
            problem -> assertThat(problem).contains("span_kind: is a label"),
            problem -> assertThat(problem).contains("a: must be another name"),
            problem -> assertThat(problem).contains("a_b: must be another name"),
            problem -> assertThat(problem).contains("must not begin like"),
            problem -> assertThat(problem).contains("a.count: must not begin"),
            problem -> assertThat(problem).contains("must be ascending"),
            problem -> assertThat(problem).contains("request: must not begin"),
            problem -> assertThat(problem).contains("a: must not begin"),
            problem -> assertThat(problem).contains("unit = a;b: must be a unit"),
            problem -> assertThat(problem).contains("trace_etl_form: is a label"),
            problem -> assertThat(problem).contains("measures = 17 of them"));
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                applications:
                  - application: a
                    measures: [{name: a, value: one}]
                  - application: b
                    measures: [{name: a, value: one, type: histogram, bounds: [1]}]
                """))
        .singleElement()
        .asString()
        .isEqualTo(
            "applications[1].measures[0].name = a: must have the same type in all rules; FILE:6");
    assertThat(
            problemsOfApplied(
                "revision: 1\ndefaults: {measures: [{name: a, bounds: [%s]}]}".formatted(bounds)))
        .singleElement()
        .asString()
        .startsWith("defaults.measures[0].bounds = 17 of them: must be at most 16")
        .endsWith("; FILE:2");
  }

  @Test
  void dimensionsThatApplyAreCheckedAsThoseOfTheConfiguration() {
    config =
        new ServerConfig(
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            new EventsConfig(true, List.of("exception.type")),
            null,
            null,
            null,
            null,
            null,
            null);
    String attributes =
        IntStream.range(0, 33)
            .mapToObj(i -> "{attribute: a" + i + "}")
            .collect(Collectors.joining(", "));
    assertThat(
            problemsOfApplied(
                """
                revision: 1
                applications:
                  - application: a
                    series.dimensions: [{attribute: span.kind}]
                  - application: b
                    series.dimensions: [{attribute: exception-type}]
                  - application: c
                    series.dimensions: [{attribute: a.b}, {attribute: c, label: a_b}]
                  - application: d
                    series.dimensions: [{attribute: a, from: event}]
                  - application: e
                    series.dimensions: [%s]
                """
                    .formatted(attributes)))
        .satisfiesExactly(
            problem ->
                assertThat(problem).contains("span_kind: is a label of every").endsWith(":4"),
            problem -> assertThat(problem).contains("exception_type").endsWith(":5"),
            problem -> assertThat(problem).contains("a_b: must not occur twice").endsWith(":8"),
            problem -> assertThat(problem).contains("from = event: must be").endsWith(":10"),
            problem -> assertThat(problem).contains("must be at most 32").endsWith(":12"));
  }

  @Test
  void boundsOfRulesThatApplyAreChecked() {
    assertThat(problemsOfApplied("revision: 1000000000001"))
        .containsExactly("revision = 1000000000001: must be at most 1000000000000; FILE:1");
    assertThat(problemsOfApplied("revision: 1\napplications:\n" + "- {application: %d}\n", 128))
        .singleElement()
        .asString()
        .isEqualTo(
            "applications = 129 of them: must be at most 128, with a rule of all other"
                + " applications; FILE:3");
    assertThat(
            problemsOfApplied(
                "revision: 1\napplications:\n"
                    + "- {application: %d, documents.thresholds: [{slower-than: 1s}]}\n",
                65))
        .containsExactly(
            "applications = 130 of them and their thresholds: must be at most 128, which servers"
                + " can demand of agents; FILE:3");
    assertThat(problemsOfApplied("a: [\n"))
        .containsExactly(
            "trace-etl.rules.file = FILE:2: is not YAML: expected the node content, but found"
                + " '<stream end>'");
  }

  /** The problems of a file whose last line is repeated with the numbers from 0. */
  private List<String> problemsOfApplied(String content, int lines) {
    int last = content.lastIndexOf("- ");
    StringBuilder repeated = new StringBuilder(content.substring(0, last));
    for (int i = 0; i < lines; i++) {
      repeated.append(content.substring(last).formatted(i));
    }
    return problemsOfApplied(repeated.toString());
  }

  private List<String> problemsOfApplied(String content) {
    ConfigurationRefused refused =
        catchThrowableOfType(
            ConfigurationRefused.class,
            () -> RulesFile.parseApplied(file, content.getBytes(UTF_8), config));
    assertThat(refused).isNotNull();
    return refused.getMessage().replace(file.toString(), "FILE").lines().toList();
  }
}
