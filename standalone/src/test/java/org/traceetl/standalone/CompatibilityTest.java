package org.traceetl.standalone;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that no metric, configuration key or value of the chart of an earlier release vanishes or
 * changes. Lists keep their names, and what a configuration, query or alert needs of them: the type
 * and labels of a metric, the type and constants of a key.
 *
 * <p>The lists are compared with the documents' tables, which other tests compare with the code.
 * With {@code -Dtraceetl.docs.write=true} the test adds lines to the lists; before version 1 it
 * also removes them. A release requires complete lists. A line may have the version that deprecated
 * it as its last field; then it may vanish in the next major version.
 */
final class CompatibilityTest {
  private static final Path ROOT = Path.of("..");
  private static final Path LISTS =
      Path.of("src/test/resources/org/traceetl/standalone/compatibility");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`(:)?");
  private static final Pattern DEPRECATED = Pattern.compile("deprecated (\\d+)\\.\\d+");

  /** A list, and the tables that it keeps. */
  enum Kept {
    METRICS("docs/metrics.md", "name"),
    AGENT_KEYS("docs/configuration-agent.md", "key"),
    SERVER_KEYS("docs/configuration-server.md", "key"),
    CHART_VALUES("deploy/helm/trace-etl/README.md", "value");

    private final Path document;
    private final String column;

    Kept(String document, String column) {
      this.document = ROOT.resolve(document);
      this.column = column;
    }

    private Path list() {
      return LISTS.resolve(name().toLowerCase(Locale.ROOT).replace('_', '-') + ".tsv");
    }

    /** Returns the type of each name in the document's tables. */
    private Map<String, Type> present() throws IOException {
      Map<String, Type> present = new TreeMap<>();
      List<String> head = List.of();
      for (String line : Files.readAllLines(document)) {
        List<String> cells = List.of(line.split(" *(?<!\\\\)\\| *"));
        if (!line.startsWith("| ")) {
          head = line.startsWith("|--") ? head : List.of();
        } else if (head.isEmpty()) {
          head = cells;
        } else if (head.get(1).equals(column) && cells.get(1).startsWith("`")) {
          int type = head.indexOf("type");
          int labels = head.indexOf("labels");
          present.put(
              cells.get(1).replace("`", ""),
              new Type(
                  type < 0 ? "" : cells.get(type).replaceAll(" ?`.*", ""),
                  labels < 0 ? codes(type < 0 ? "" : cells.get(type)) : labels(cells.get(labels))));
        }
      }
      return present;
    }
  }

  /**
   * What must stay of a name.
   *
   * @param text the type
   * @param parts labels, or constants of which a value is one; others may be added
   */
  private record Type(String text, Set<String> parts) {
    private static Type of(String[] fields) {
      return new Type(
          fields[1], fields[2].isEmpty() ? Set.of() : new TreeSet<>(List.of(fields[2].split(","))));
    }

    private boolean isKeptBy(Type now) {
      return now != null && text.equals(now.text) && now.parts.containsAll(parts);
    }
  }

  private static Set<String> codes(String cell) {
    Set<String> codes = new TreeSet<>();
    CODE.matcher(cell).results().forEach(code -> codes.add(code.group(1)));
    return codes;
  }

  /** Returns labels, as in {@code `endpoint`, `reason`: `full`, `other`}, without their values. */
  private static Set<String> labels(String cell) {
    Set<String> labels = new TreeSet<>();
    boolean inValues = false;
    for (MatchResult code : CODE.matcher(cell.replaceAll("\\(.*?\\)", "")).results().toList()) {
      boolean hasValues = code.group(2) != null;
      if (hasValues || !inValues) {
        labels.add(code.group(1));
      }
      inValues |= hasValues;
    }
    return labels;
  }

  /** Returns what is wrong with the names that are left of a list, in a version. */
  private static List<String> broken(List<String> lines, Map<String, Type> present, int major) {
    List<String> broken = new ArrayList<>();
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      boolean mayVanish =
          fields.length > 3
              && DEPRECATED
                  .matcher(fields[3])
                  .results()
                  .anyMatch(version -> Integer.parseInt(version.group(1)) < major);
      if (!mayVanish && !Type.of(fields).isKeptBy(present.get(fields[0]))) {
        broken.add(line + ": now " + present.get(fields[0]));
      }
    }
    return broken;
  }

  @ParameterizedTest
  @EnumSource
  void whatWasReleasedStays(Kept kept) throws IOException {
    String version = version();
    int major = Integer.parseInt(version.replaceAll("\\..*", ""));
    Map<String, Type> present = kept.present();
    assertThat(present).hasSizeGreaterThan(50);
    Map<String, String> lines = new TreeMap<>();
    for (String line : Files.readAllLines(kept.list())) {
      lines.put(line.replaceAll("\t.*", ""), line);
    }
    if (Boolean.getBoolean("traceetl.docs.write")) {
      if (major == 0) {
        lines.clear();
      }
      present.forEach((name, type) ->
          lines.putIfAbsent(name, name + "\t" + type.text + "\t" + String.join(",", type.parts)));
      Files.writeString(kept.list(), lines.values().stream().collect(joining("\n", "", "\n")));
    }

    assertThat(broken(List.copyOf(lines.values()), present, major))
        .as("vanished from %s, or changed", kept.document)
        .isEmpty();
    if (!version.endsWith("-SNAPSHOT")) {
      assertThat(lines.keySet())
          .as("a release keeps everything; -Dtraceetl.docs.write=true adds lines")
          .containsAll(present.keySet());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "a|counter|;                   1; false",
        "a|counter|queue;              1; false",
        "a|counter|queue,reason;       1; true",
        "a|gauge|;                     1; true",
        "b|counter|;                   1; true",
        "b|counter||deprecated 1.4;    1; true",
        "b|counter||deprecated 1.4;    2; false",
        "a|gauge||deprecated 1.4;      2; false",
      })
  void changesAreFound(String line, int major, boolean isBroken) {
    Map<String, Type> present = Map.of("a", new Type("counter", Set.of("queue")));

    assertThat(broken(List.of(line.strip().replace('|', '\t')), present, major))
        .hasSize(isBroken ? 1 : 0);
  }

  @Test
  void labelsAreReadWithoutTheirValues() {
    assertThat(labels("`a`")).containsExactly("a");
    assertThat(labels("`a`, `b`: `c` (with `d`), `e`")).containsExactly("a", "b");
    assertThat(labels("`a`: `c`, `d`, `b`: `e`")).containsExactly("a", "b");
    assertThat(labels("")).isEmpty();
  }

  private static String version() throws IOException {
    return Arrays.stream(Files.readString(ROOT.resolve("pom.xml")).split("</?version>"))
        .skip(1)
        .findFirst()
        .orElseThrow();
  }
}
