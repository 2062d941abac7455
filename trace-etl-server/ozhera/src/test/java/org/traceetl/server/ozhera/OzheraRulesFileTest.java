package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

class OzheraRulesFileTest {
  private static final Path FILE = Path.of("rules.yaml");
  private static final Path DOCS = Path.of("..", "..", "docs", "ozhera.md");
  private static final Pattern EXAMPLE =
      Pattern.compile("```yaml\n(# ozhera-rules\\.yaml.*?)```", Pattern.DOTALL);

  private static OzheraRules parse(String yaml) {
    return OzheraRulesFile.parse(FILE, yaml.getBytes(UTF_8));
  }

  private static boolean areIn(Substrings parts, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return parts.areIn(bytes, 0, bytes.length);
  }

  /** The operator's properties, in Nacos: hera_trace_config. */
  @Test
  void theExampleOfTheDocumentationIsWhatOzherasOperatorInstalls() throws IOException {
    Matcher example = EXAMPLE.matcher(Files.readString(DOCS));
    assertThat(example.find()).isTrue();
    assertThat(parse(example.group(1)).of("any").excluded()).isFalse();

    Map<String, Object> keys = new Yaml().load(example.group(1));
    assertThat(keys)
        .containsOnly(
            entry("slower-than-millis", Map.of("http", 1000, "dubbo", 1000, "mysql", 1000)),
            entry(
                "exclude",
                Map.of(
                    "applications", installed("jaeger-query|tesla"),
                    "span-names",
                        installed(
                            "favicon.ico|ResourceHttpRequestHandler|ResponseFacade|Controller"
                                + "|Render|/*|EXISTS|PING"),
                    "http-server-methods", installed("PUT|HTTP"),
                    "threads", installed("nacos"),
                    "urls", installed("nacos|talos"),
                    "user-agents", installed("SecurityScan|skyeye-scanner|wcscanner"),
                    "statements", installed("select ?|/|@@"))),
            entry(
                "degrade",
                Map.of(
                    "server-ip",
                    false,
                    "dubbo-method",
                    false,
                    "sql",
                    false,
                    "applications",
                    List.of())),
            entry("applications", null));
  }

  private static List<String> installed(String property) {
    return List.of(property.split("\\|"));
  }

  @Test
  void anApplicationHasItsOwnInPlaceOfThoseOfAll() {
    OzheraRules rules =
        parse(
            """
            exclude:
              applications: [canary]
              span-names: [favicon.ico]
              threads: [nacos]
              statements: ["@@"]
            degrade: {sql: true, applications: [report]}
            applications:
              checkout:
                slower-than-millis: {http: 300}
                exclude: {statements: []}
            """);

    assertThat(rules.of("any").excluded()).isFalse();
    assertThat(rules.of("my-canary-2").excluded()).isTrue();
    assertThat(rules.of("can").excluded()).isFalse();
    assertThat(rules.of("any").httpMicros()).isEqualTo(1_000_000);
    assertThat(rules.of("checkout").httpMicros()).isEqualTo(300_000);
    assertThat(rules.of("checkout").dubboMicros()).isEqualTo(1_000_000);
    assertThat(areIn(rules.of("any").spanNames(), "a/favicon.ico")).isTrue();
    assertThat(areIn(rules.of("any").statements(), "select @@version")).isTrue();
    assertThat(areIn(rules.of("checkout").statements(), "select @@version")).isFalse();
    assertThat(areIn(rules.of("checkout").threads(), "nacos-1")).isTrue();
    assertThat(rules.of("report").collapsesSql()).isTrue();
    assertThat(rules.of("any").collapsesSql()).isFalse();
    assertThat(rules.of("report").collapsesServerIp()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "# nothing", "exclude:\n", "exclude: {urls: }", "applications: {a: }"})
  void whatIsNotSaidIsAsByDefault(String yaml) {
    ApplicationRules rules = parse(yaml).of("a");

    assertThat(rules.slowAboveMicros(SpanType.HTTP_CLIENT)).isEqualTo(1_000_000);
    assertThat(rules.slowAboveMicros(SpanType.REDIS)).isEqualTo(Long.MAX_VALUE);
    assertThat(areIn(rules.urls(), "http://a")).isFalse();
    assertThat(rules.collapsesServerIp()).isFalse();
  }

  @Test
  void listsAreSharedByAllApplications() {
    OzheraRules rules =
        parse(
            "exclude: {applications: [canary], urls: [/health]}\n"
                + "applications: {shop: {exclude: {threads: [t]}}}");

    assertThat(rules.of("shop").urls()).isSameAs(rules.of("any").urls());
    assertThat(rules.of("shop").threads()).isSameAs(rules.of("shop").threads());
    assertThat(rules.of("canary-1")).isSameAs(rules.of("canary-2"));
  }

  @Test
  void sectionsAreNotMerged() {
    assertThatThrownBy(() ->
            parse(
                """
                applications:
                  base: &base {exclude: {urls: [/health]}}
                  <<: *base
                """))
        .hasMessage(
            "trace-etl.ozhera.rules-file = rules.yaml:3: applications.<<: "
                + "must not use YAML merge keys");
  }

  @Test
  void emptyEntriesMatchNothing() {
    ApplicationRules rules = parse("exclude: {applications: [''], urls: ['', ~, b]}").of("a");

    assertThat(rules.excluded()).isFalse();
    assertThat(areIn(rules.urls(), "a")).isFalse();
    assertThat(areIn(rules.urls(), "abc")).isTrue();
  }

  @Test
  void allThatIsWrongIsTold() {
    assertThatThrownBy(() ->
            parse(
                """
                slower-than-millis: {http: fast, grpc: 1}
                exclude:
                  urls: /health
                  url: []
                  threads: [[a]]
                degrade: {sql: yes}
                applications:
                  shop: 3
                  shop:
                    degrade: {}
                    slower-than-millis: {mysql: -1}
                other: 1
                """))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .isEqualTo(
            """
            trace-etl.ozhera.rules-file = rules.yaml:1: slower-than-millis.http = fast: must be whole milliseconds, 0 to 86400000
            trace-etl.ozhera.rules-file = rules.yaml:1: slower-than-millis.grpc: is not a key of this section; the keys are http, dubbo, mysql
            trace-etl.ozhera.rules-file = rules.yaml:3: exclude.urls = /health: must be a list of texts, at most 1000
            trace-etl.ozhera.rules-file = rules.yaml:4: exclude.url: is not a key of this section; the keys are applications, span-names, http-server-methods, threads, urls, user-agents, statements
            trace-etl.ozhera.rules-file = rules.yaml:5: exclude.threads = a list: must be a list of texts
            trace-etl.ozhera.rules-file = rules.yaml:6: degrade.sql = yes: must be true or false
            trace-etl.ozhera.rules-file = rules.yaml:8: applications.shop = 3: must be a section with slower-than-millis, exclude
            trace-etl.ozhera.rules-file = rules.yaml:9: applications.shop: must not occur twice
            trace-etl.ozhera.rules-file = rules.yaml:12: other: is not a key of this section; the keys are slower-than-millis, exclude, degrade, applications\
            """);
  }

  @Test
  void whatIsNoYamlIsToldWithItsLine() {
    assertThatThrownBy(() -> parse("a: 1\nb: [\n"))
        .hasMessageStartingWith("trace-etl.ozhera.rules-file = rules.yaml:3: is not YAML: ");
    assertThatThrownBy(() -> parse("a: \u0000"))
        .hasMessageStartingWith("trace-etl.ozhera.rules-file = rules.yaml");
    assertThatThrownBy(() -> parse("- a"))
        .hasMessageContaining(":1: ")
        .hasMessageContaining("must be a section with slower-than-millis");
    assertThatThrownBy(() -> OzheraRulesFile.read(Path.of("no-such.yaml")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("trace-etl.ozhera.rules-file = no-such.yaml: cannot be read: ");
  }
}
