package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.FilterRules.Allowed;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Keep;
import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.config.FilterRules.Place;
import org.traceetl.agent.config.FilterRules.Redaction;
import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.common.ConfigException;

final class FiltersFileTest {
  private static final List<String> ALL = List.of("*");

  @Test
  void everyKeyIsRead() throws ConfigException {
    FilterRules rules =
        parse(
            """
            drop:
              - application: [checkout, "cart-*"]
                kind: [client, internal]
                name: ["GET", "SET *"]
                attributes: {db.system: redis, server.port: 6379}
                unless-slower-than: 50ms
                keep: nothing
                dimensions: [db.system]
            sample:
              - application: "batch-*"
                ratio: 0.25
                always: {errors: false, slower-than: 2s}
            attributes:
              - application: checkout
                span: ["http.*", db.system]
                resource: []
            limits:
              max-attributes: 64
              max-value-bytes: 1024
              max-name-bytes: 256
              max-status-message-bytes: 0
            redact:
              - pattern: '[0-9]{13,19}'
                in: [values, status-messages]
                attributes: [url.*]
                replace: "[number]"
            """);

    assertThat(rules)
        .isEqualTo(
            new FilterRules(
                List.of(
                    new Drop(
                        List.of("checkout", "cart-*"),
                        List.of(3, 1),
                        List.of("GET", "SET *"),
                        Map.of("db.system", "redis", "server.port", "6379"),
                        50_000_000,
                        Keep.NOTHING,
                        List.of("db.system"))),
                List.of(new Sample(List.of("batch-*"), 0.25, false, 2_000_000_000L)),
                List.of(
                    new Allowed(List.of("checkout"), List.of("http.*", "db.system"), List.of())),
                new Limits(64, 1_024, 256, 0),
                List.of(
                    new Redaction(
                        "[0-9]{13,19}",
                        List.of(Place.VALUES, Place.STATUS_MESSAGES),
                        List.of("url.*"),
                        "[number]"))));
  }

  @Test
  void absentKeysHaveTheirDefaults() throws ConfigException {
    FilterRules rules =
        parse(
            """
            drop: [{}]
            sample: [{ratio: 1}]
            attributes: [{span: a}]
            limits: {}
            redact: [{pattern: x}]
            """);

    assertThat(rules)
        .isEqualTo(
            new FilterRules(
                List.of(
                    new Drop(
                        ALL,
                        List.of(0, 1, 2, 3, 4, 5),
                        ALL,
                        Map.of(),
                        1_000_000_000,
                        Keep.METRICS,
                        List.of())),
                List.of(new Sample(ALL, 1, true, Long.MAX_VALUE)),
                List.of(new Allowed(ALL, List.of("a"), null)),
                Limits.NONE,
                List.of(new Redaction("x", List.of(Place.values()), ALL, "[redacted]"))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing\n", "drop:\n", "drop: []\nredact: []\n"})
  void emptyFileChangesNothing(String yaml) throws ConfigException {
    assertThat(parse(yaml)).isEqualTo(FilterRules.NONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          filter: 1                          | line 1: filter: no such key; known are drop, sample, attributes, limits, redact
          drop: 1                            | line 1: drop = 1: must be a list of rules
          drop: {name: a}                    | line 1: drop = a section: must be a list of rules
          drop: [a]                          | line 1: drop = a: must be a rule: a section of keys
          drop:\\n- x: 1                     | line 2: drop.x: no such key; known are application, kind, name, attributes, unless-slower-than, keep, dimensions
          drop:\\n- name: {a: b}             | line 2: drop.name = a section: must be a pattern, or a list of them
          drop:\\n- name: ''                 | line 2: drop.name = : must be a pattern, or a list of them
          drop:\\n- name: []                 | line 2: drop.name = 0 patterns: must be 1 to 1000
          drop:\\n- name: [[a], b]              | line 2: drop.name = a list: must be a pattern
          drop:\\n- name: *a                 | line 2: drop.name = *a: must be a pattern, or a list of them; quote a value that begins with *
          drop:\\n- name: [b, *a]            | line 2: drop.name = *a: must be a pattern; quote a value that begins with *
          drop:\\n- attributes: {b: *a}      | line 2: drop.attributes.b = *a: must be a pattern of the value; quote a value that begins with *
          drop:\\n- keep: *nothing           | line 2: drop.keep = *nothing: must be metrics or nothing; quote a value that begins with *
          drop:\\n- kind: *client            | line 2: drop.kind = *client: must be unspecified or
          redact:\\n- {pattern: a, replace: *b } | line 2: redact.replace = *b: must be text; quote a value that begins with *
          drop:\\n- kind: clients            | line 2: drop.kind = clients: must be unspecified or internal or server or client or producer or consumer
          drop:\\n- kind: [client, 3]        | line 2: drop.kind = 3: must be unspecified or
          drop:\\n- kind:                    | line 2: drop.kind = : must be unspecified or
          redact:\\n- {pattern: x, in: }    | line 2: redact.in = : must be
          drop:\\n- kind: []                 | line 2: drop.kind = an empty list: must have at least one of unspecified, internal, server, client, producer, consumer
          drop:\\n- attributes: redis        | line 2: drop.attributes = redis: must be a section of keys
          drop:\\n- attributes: {a: [b]}     | line 2: drop.attributes.a = a list: must be a pattern of the value
          drop:\\n- unless-slower-than: 100  | line 2: drop.unless-slower-than = 100: must be a whole number with a unit: us, ms, s or m, such as 100ms
          drop:\\n- unless-slower-than: 1h   | line 2: drop.unless-slower-than = 1h: must be a whole number with a unit
          drop:\\n- keep: all                | line 2: drop.keep = all: must be metrics or nothing
          sample:\\n- {}                     | line 2: sample.ratio: is missing in the rule that begins here
          sample:\\n- ratio: 0               | line 2: sample.ratio = 0: must be a number from 0.000001 to 1; to send no spans, use drop
          sample:\\n- ratio: 1.01            | line 2: sample.ratio = 1.01: must be a number from
          sample:\\n- ratio: .nan            | line 2: sample.ratio = .nan: must be a number from
          sample:\\n- ratio: half            | line 2: sample.ratio = half: must be a number from
          sample:\\n- {ratio: 1, always: errors} | line 2: sample.always = errors: must be a section of keys
          sample:\\n- {ratio: 1, always: {errors: 1}} | line 2: sample.always.errors = 1: must be true or false
          sample:\\n- {ratio: 1, always: {slow: 1s}} | line 2: sample.always.slow: no such key; known are errors, slower-than
          attributes:\\n- application: a     | line 2: attributes.span or attributes.resource: is missing in the rule that begins here
          limits: 3                          | line 1: limits = 3: must be a section of keys
          limits: {max-attributes: 1025}     | line 1: limits.max-attributes = 1025: must be a whole number from 0 to 1024
          limits: {max-value-bytes: 0}       | line 1: limits.max-value-bytes = 0: must be a whole number from 1 to 65535
          redact:\\n- replace: x             | line 2: redact.pattern: is missing in the rule that begins here
          redact:\\n- pattern: '('           | line 2: redact.pattern = (: must be a regular expression of RE2 that does not match empty text: error parsing regexp
          redact:\\n- pattern: 'a*'          | line 2: redact.pattern = a*: must be a regular expression of RE2 that does not match empty text
          redact:\\n- pattern: '(a)\\1'      | line 2: redact.pattern = (a)\\1: must be a regular expression of RE2
          redact:\\n- pattern: '(\\d{1,1000} ){1,1000}' | line 2: redact.pattern = (\\d{1,1000} ){1,1000}: must be an expression of at most 10000 characters with its repetitions
          redact:\\n- pattern: '((a{99}){99}b){9,}' | line 2: redact.pattern = ((a{99}){99}b){9,}: must be an expression of at most 10000
          redact:\\n- pattern: 'a{1000}\\Q\\E{1000}' | line 2: redact.pattern = a{1000}\\Q\\E{1000}: must be an expression of at most 10000
          redact:\\n- pattern: '(.{500})(?i){30}' | line 2: redact.pattern = (.{500})(?i){30}: must be an expression of at most 10000
          redact:\\n- {pattern: a, in: keys} | line 2: redact.in = keys: must be values or names or status-messages
          redact:\\n- {pattern: a, in: []} | line 2: redact.in = an empty list: must have at least one of values, names, status-messages
          redact:\\n- {pattern: a, replace: [b]} | line 2: redact.replace = a list: must be text
          """)
  void problemNamesItsLine(String yaml, String problem) {
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> parse(yaml.replace("\\n", "\n")));

    assertThat(failure.problems()).singleElement().asString().contains(problem);
  }

  @Test
  void allProblemsAreReportedTogether() {
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class,
            () -> parse("x: {y: 1}\ndrop: [{keep: all}, {kind: a}]\nlimits: {z: []}\n"));

    assertThat(failure.problems()).hasSize(4);
  }

  @Test
  void tooManyRulesAndTooLongPatternsAreRefused() {
    String rules = "drop: [" + "{},".repeat(FiltersFile.MAX_RULES) + "{}]\n";
    String pattern = "redact: [{pattern: " + "x".repeat(FiltersFile.MAX_PATTERN_BYTES + 1) + "}]\n";
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> parse(rules + pattern));

    assertThat(failure.problems())
        .containsExactly(
            "line 1: drop = 1001 rules: must be at most 1000",
            "line 2: redact.pattern = 1025 bytes: must be at most 1024");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[0-9]{13,19}",
        "x{1,1000}",
        "([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
        "(\\w{1,63}\\.){1,10}[a-z]{2,63}",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "([0-9]{4}[ -]?){3}[0-9]{4}"
      })
  void usualRepetitionsAreAccepted(String expression) throws ConfigException {
    assertThat(parse("redact: [{pattern: '" + expression + "'}]\n").redact())
        .extracting(Redaction::pattern)
        .containsExactly(expression);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "drop: [{name: LIST}]",
        "drop: [{dimensions: LIST}]",
        "attributes: [{span: LIST}]",
        "attributes: [{resource: LIST}]",
        "redact: [{pattern: a, attributes: LIST}]"
      })
  void listsOfPatternsAreBounded(String yaml) {
    String many = "[" + "a,".repeat(FiltersFile.MAX_RULES) + "a]";
    String longOne = "[" + "x".repeat(FiltersFile.MAX_PATTERN_BYTES + 1) + "]";

    assertThat(problems(yaml.replace("LIST", many)))
        .singleElement()
        .asString()
        .contains("= 1001 patterns: must be ", " to 1000");
    assertThat(problems(yaml.replace("LIST", longOne)))
        .singleElement()
        .asString()
        .contains("= 1025 bytes: must be at most 1024");
  }

  @Test
  void attributesOfDropRulesAreBounded() {
    String many =
        IntStream.rangeClosed(0, FiltersFile.MAX_RULES)
            .mapToObj(i -> "k" + i + ": a")
            .collect(Collectors.joining(", "));
    String longOne = "? " + "x".repeat(FiltersFile.MAX_PATTERN_BYTES + 1) + " : a";

    assertThat(problems("drop: [{attributes: {" + many + "}}]"))
        .containsExactly("line 1: drop.attributes = 1001 keys: must be at most 1000");
    assertThat(problems("drop: [{attributes: {" + longOne + "}}]"))
        .containsExactly("line 1: drop.attributes = a key of 1025 bytes: must be at most 1024");
  }

  @Test
  void differentRulesHaveDifferentFingerprints() throws ConfigException {
    FilterRules one = parse("drop: [{name: a}]\n");

    assertThat(one.fingerprint())
        .isEqualTo(parse("drop: [{name: [a]}] # the same\n").fingerprint());
    assertThat(one.fingerprint()).isNotEqualTo(parse("drop: [{name: b}]\n").fingerprint());
  }

  @Property(tries = 500)
  void anyBytesAreReadOrRefused(@ForAll byte[] content) {
    try {
      FiltersFile.parse(content);
    } catch (ConfigException e) {
      assertThat(e.problems()).isNotEmpty();
    }
  }

  private static List<String> problems(String yaml) {
    return catchThrowableOfType(ConfigException.class, () -> parse(yaml)).problems();
  }

  private static FilterRules parse(String yaml) throws ConfigException {
    return FiltersFile.parse(yaml.getBytes(UTF_8));
  }
}
