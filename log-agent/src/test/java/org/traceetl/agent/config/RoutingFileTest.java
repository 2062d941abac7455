package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.ConfigException;

final class RoutingFileTest {
  private static final RoutingRules BELOW =
      new RoutingRules(
          new Rule(3, Spread.SERIES, false),
          Map.of(
              "checkout",
              new Rule(4, Spread.SERIES, true),
              "cart",
              new Rule(5, Spread.RANDOM, true)),
          Set.of("old"));

  @Test
  void filePrecedesTheKeys() throws ConfigException {
    RoutingRules rules =
        parse(
            """
            queues-per-application: 2
            applications:
              checkout: {queues: 8}
              "batch-*":
                spread: random
            exclude: [load-test, "canary-*"]
            """);

    assertThat(rules.rule("other")).isEqualTo(new Rule(2, Spread.SERIES, false));
    assertThat(rules.rule("checkout")).isEqualTo(new Rule(8, Spread.SERIES, true));
    assertThat(rules.rule("cart")).isEqualTo(new Rule(5, Spread.RANDOM, true));
    assertThat(rules.rule("batch-7")).isEqualTo(new Rule(2, Spread.RANDOM, false));
    assertThat(rules.excluded()).containsOnly("load-test", "canary-*");
  }

  @Test
  void emptyFileChangesNothing() throws ConfigException {
    assertThat(parse("")).isEqualTo(BELOW);
    assertThat(parse("# nothing\n")).isEqualTo(BELOW);
    assertThat(parse("applications:\n")).isEqualTo(BELOW);
  }

  @Test
  void applicationTakesAbsentKeysFromTheStandard() throws ConfigException {
    RoutingRules rules = parse("applications: {a: {queues: 9}}\nspread: random\n");

    assertThat(rules.rule("a")).isEqualTo(new Rule(9, Spread.RANDOM, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          \\nqueues-per-application: 0        | line 2: queues-per-application = 0: must be a whole number from 1 to 1024
          queues-per-application: 1025       | line 1: queues-per-application = 1025: must be a whole number from 1 to 1024
          queues-per-application: 99999999999999999999 | line 1: queues-per-application = 99999999999999999999: must be a whole number
          queues-per-application: two        | line 1: queues-per-application = two: must be a whole number from 1 to 1024
          queues-per-application: 2.5        | line 1: queues-per-application = 2.5: must be a whole number
          queues-per-application: [1]        | line 1: queues-per-application = a list: must be a whole number
          queues-per-application:            | line 1: queues-per-application = : must be a whole number
          spread: wide                       | line 1: spread = wide: must be series or random
          spread: {a: b}                     | line 1: spread = a section: must be series or random
          queues: 2                          | line 1: queues: no such key; known are queues-per-application, spread, applications, exclude
          x: {y: [1]}                        | line 1: x: no such key
          applications: 3                    | line 1: applications = 3: must be sections by name of the application
          applications:\\n  a: 3             | line 2: applications.a = 3: must be a section with queues, spread or both
          applications:\\n  a:\\n    queues: 0 | line 3: applications.a.queues = 0: must be a whole number from 1 to 1024
          applications:\\n  a:\\n    q: 1     | line 3: applications.a.q: no such key; known are queues, spread
          applications:\\n  a: {queues: 1}\\n  a: {queues: 2} | line 3: not YAML: Duplicate
          exclude: a                         | line 1: exclude = a: must be a list of names of applications
          exclude: [a, {b: c}]               | line 1: exclude = a section: must be the name of an application
          exclude: ['']                      | line 1: exclude = : must be the name of an application
          exclude: [a, *b]                   | line 1: exclude = *b: must be the name of an application; quote a value that begins with *
          just text                          | line 1: contains no keys
          a: [                               | line 1: not YAML
          spread: series\\n---\\nspread: random | a second document
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
            () -> parse("x: {y: 1}\nspread: wide\napplications: {a: {queues: 0, z: []}}\n"));

    assertThat(failure.problems()).hasSize(4);
  }

  @Test
  void fileThatIsNotUtf8IsRefused() {
    assertThatThrownBy(() -> RoutingFile.parse("exclude: [größe]".getBytes(ISO_8859_1), BELOW))
        .isInstanceOf(ConfigException.class)
        .hasMessage("not UTF-8");
  }

  @Test
  void tooLongFileIsRefused(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("routing.yaml");
    Files.write(file, new byte[WatchedFile.MAX_BYTES + 1]);

    assertThatThrownBy(() -> new WatchedFile(file, 10).content(Disk.SYSTEM))
        .isInstanceOf(IOException.class)
        .hasMessage("longer than 1048576 bytes");
  }

  @Property(tries = 500)
  void anyBytesAreReadOrRefused(@ForAll byte[] content) {
    try {
      RoutingFile.parse(content, BELOW);
    } catch (ConfigException e) {
      assertThat(e.problems()).isNotEmpty();
    }
  }

  private static RoutingRules parse(String yaml) throws ConfigException {
    return RoutingFile.parse(yaml.getBytes(UTF_8), BELOW);
  }
}
