package org.traceetl.standalone;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that no metric, configuration key, value of the chart or golden file of an earlier release
 * vanishes or changes. Lists keep their names, and what a configuration, query or alert needs of
 * them: the type and labels of a metric, the type and constants of a key; of a golden file its
 * SHA-256.
 *
 * <p>The lists are compared with the documents' tables and with golden pages, which other tests
 * compare with the code. With {@code -Dtraceetl.docs.write=true} the test adds lines to the lists,
 * and labels and constants to their lines; before version 1 it also removes them. A release
 * requires complete lists. A line may have the version that deprecated it as its last field; then
 * it may vanish in the next major version.
 */
final class CompatibilityTest {
  private static final Path ROOT = Path.of("..");
  private static final List<String> PAGES =
      List.of(
          "features/src/test/resources/golden/otel-text.txt",
          "features/src/test/resources/golden/tempo-text.txt",
          "features/src/test/resources/golden/edges-text.txt",
          "ozhera/src/test/resources/golden/ozhera-text.txt");
  private static final Path LISTS =
      Path.of("src/test/resources/org/traceetl/standalone/compatibility");
  private static final List<String> MODULES =
      List.of("proto", "log-agent", "trace-etl-server/core", "trace-etl-server/features");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`(:)?");
  private static final Pattern SAMPLE = Pattern.compile("([\\w:]+)(?:\\{(.*)})? \\S+");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  /** What later releases read: bytes, and what routing must return. A page's file may get lines. */
  private static final Pattern GOLDEN =
      Pattern.compile(
          ".*/src/(test|main)/resources/.*(\\.hex|/ring_\\d\\.txt|/messages\\.properties"
              + "|/document_\\d\\.json|/route/[^/]*\\.(tsv|json))");

  private static final Pattern DEPRECATED = Pattern.compile("deprecated (\\d+)\\.\\d+");

  /** A list, and the tables that it keeps. */
  enum Kept {
    METRICS("docs/metrics.md", "name"),
    AGENT_KEYS("docs/configuration-agent.md", "key"),
    SERVER_KEYS("docs/configuration-server.md", "key"),
    CHART_VALUES("deploy/helm/trace-etl/README.md", "value"),

    /** The samples of golden pages, with their labels and buckets. */
    SAMPLES("trace-etl-server", "") {
      @Override
      Map<String, Type> present() throws IOException {
        Map<String, Type> present = new TreeMap<>();
        for (String page : PAGES) {
          Path file = ROOT.resolve("trace-etl-server").resolve(page);
          addSamples(file.getFileName() + " ", Files.readAllLines(file), present);
        }
        return present;
      }
    };

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
    Map<String, Type> present() throws IOException {
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

    private String line(String name) {
      return name + "\t" + text + "\t" + String.join(",", parts);
    }

    private boolean isKeptBy(Type now) {
      return now != null && text.equals(now.text) && now.parts.containsAll(parts);
    }
  }

  private static void addSamples(String page, List<String> lines, Map<String, Type> present) {
    String type = "";
    for (String line : lines) {
      Matcher sample = SAMPLE.matcher(line);
      if (line.startsWith("# TYPE ")) {
        type = line.replaceAll(".* ", "");
      } else if (sample.matches()) {
        present.putIfAbsent(page + sample.group(1), new Type(type, new TreeSet<>()));
        Set<String> parts = present.get(page + sample.group(1)).parts;
        LABEL
            .matcher(Objects.requireNonNullElse(sample.group(2), ""))
            .results()
            .map(label -> label.group(1).equals("le") ? "le=" + label.group(2) : label.group(1))
            .forEach(parts::add);
      }
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
      present.forEach((name, type) -> {
        String[] fields = lines.getOrDefault(name, type.line(name)).split("\t", -1);
        if (Type.of(fields).isKeptBy(type)) {
          lines.put(name, type.line(name) + (fields.length > 3 ? "\t" + fields[3] : ""));
        }
      });
      Files.writeString(kept.list(), lines.values().stream().collect(joining("\n", "", "\n")));
    }

    assertThat(broken(List.copyOf(lines.values()), present, major))
        .as("vanished from %s, or changed", kept.document)
        .isEmpty();
    if (!version.endsWith("-SNAPSHOT")) {
      present
          .entrySet()
          .removeIf(now ->
              lines.getOrDefault(now.getKey(), "").startsWith(now.getValue().line(now.getKey())));
      assertThat(present)
          .as("a release keeps everything; -Dtraceetl.docs.write=true adds lines")
          .isEmpty();
    }
  }

  /** The list has the form of sha256sum, with paths from the root of the repository. */
  @Test
  void goldenFilesStay() throws Exception {
    Path list = LISTS.resolve("golden-files.sha256");
    Map<String, String> present = goldenFiles();
    Map<String, String> kept = new TreeMap<>();
    for (String line : Files.readAllLines(list)) {
      kept.put(line.replaceAll(".*  ", ""), line.replaceAll("  .*", ""));
    }
    if (Boolean.getBoolean("traceetl.docs.write")) {
      present.forEach(kept::putIfAbsent);
      Files.writeString(
          list,
          kept.entrySet().stream()
              .map(file -> file.getValue() + "  " + file.getKey() + "\n")
              .collect(joining()));
    }

    assertThat(present)
        .as(
            "golden files never change: write another one for a new format, and add it with"
                + " -Dtraceetl.docs.write=true")
        .hasSizeGreaterThan(30)
        .isEqualTo(kept);
  }

  private static Map<String, String> goldenFiles() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    Map<String, String> files = new TreeMap<>();
    for (String module : MODULES) {
      try (Stream<Path> all = Files.walk(ROOT.resolve(module).resolve("src"))) {
        for (Path file : all.filter(path -> GOLDEN.matcher(path.toString()).matches()).toList()) {
          files.put(
              ROOT.relativize(file).toString(),
              HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file))));
        }
      }
    }
    return files;
  }

  @Test
  void everyPartHasTheVersion() throws IOException {
    String version = version();
    String released = version.replace("-SNAPSHOT", "");

    assertThat(Files.readAllLines(ROOT.resolve("deploy/helm/trace-etl/Chart.yaml")))
        .contains("version: " + released, "appVersion: " + version);
    assertThat(Files.readAllLines(ROOT.resolve("otel-exporter/python/pyproject.toml")))
        .contains("version = \"" + released + "\"");
    if (version.equals(released)) {
      assertThat(Files.readString(ROOT.resolve("CHANGELOG.md"))).contains("## " + version + " (");
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
