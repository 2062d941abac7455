package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests that the documents quote only what exists: log lines, metrics, keys, commands, classes and
 * links.
 *
 * <p>A quoted log line is inline code after the words "log line", or in the column "log line" of a
 * table; "…" stands for values. The modules' own tests compare the tables of keys and metrics with
 * the code; here the tables are the reference for all other texts.
 */
final class DocumentsTest {
  private static final Path ROOT =
      Path.of(System.getProperty("basedir", "."), "..").toAbsolutePath().normalize();
  private static final Set<String> SKIPPED =
      Set.of("target", "node_modules", ".git", ".cache", "measurements", "images");
  private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern LOG_LINE = Pattern.compile("(?i)log lines? `([^`\n]+)`");
  private static final Pattern METRIC =
      Pattern.compile("(?<![\\w./-])((?:trace_etl|traces)_(?!exporter\\b)[a-z0-9_]*)(\\*|…)?");
  private static final Pattern KEY =
      Pattern.compile("((?:trace-etl\\.)?([a-z][a-z0-9-]*)(?:\\.[a-z][a-z0-9-]*)+)(?:[:= ].*)?");
  private static final Pattern FILE_NAME =
      Pattern.compile(".*\\.(md|yaml|json|csv|conf|options|log|proto|py|sh|jar|ring|key|crt)");
  private static final Pattern COMMAND = Pattern.compile("(?<![\\w/])bin/([a-z-]+)([^\n#;|&`]*)");
  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
  private static final Pattern CLASS = Pattern.compile("\\b([A-Z]\\w+(?:Test|Benchmark))\\b");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern MENTION =
      Pattern.compile("(?<![\\w./-])docs/([\\w-]+\\.md)(?:#([\\w-]+))?");

  /** Keys of Spring Boot and of OzHera. */
  private static final Pattern FOREIGN_KEY =
      Pattern.compile("server\\..*|metrics\\.uri\\.whitelist");

  private static final Map<Path, String> documents = new TreeMap<>();
  private static final Map<Path, String> files = new TreeMap<>();

  @BeforeAll
  static void readTheRepository() throws IOException {
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return SKIPPED.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = file.getFileName().toString();
            if (name.endsWith(".md")) {
              documents.put(file, Files.readString(file));
            }
            if (name.matches(".*\\.(java|md|yaml|py|mjs|tpl|conf|options|c|h|txt)|Dockerfile")
                || file.getParent().equals(ROOT.resolve("bin"))
                || file.equals(ROOT.resolve("deploy/release/trace-etl"))) {
              files.put(file, Files.readString(file));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(documents).containsKey(ROOT.resolve("docs/runbook.md"));
  }

  @Test
  void everyQuotedLogLineIsInTheSources() {
    List<String> messages = new ArrayList<>();
    sources().forEach(source -> messages.addAll(SourceStrings.of(source)));
    List<String> quotes = new ArrayList<>();
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) -> {
      for (String quote : logLines(text)) {
        quotes.add(quote);
        Pattern pattern =
            Pattern.compile(
                Arrays.stream(quote.split("…", -1))
                    .map(Pattern::quote)
                    .collect(Collectors.joining(".*")));
        if (quote.replace("…", "").length() < 10
            || messages.stream().noneMatch(message -> pattern.matcher(message).find())) {
          missing.add(name(file) + ": " + quote);
        }
      }
    });

    assertThat(quotes).hasSizeGreaterThan(10);
    assertThat(missing).isEmpty();
  }

  @Test
  void everyMetricExists() throws IOException {
    Set<String> known = rows(documents.get(ROOT.resolve("docs/metrics.md")));
    for (Path rules : List.of(Path.of("trace-etl-recording.rules.yaml"))) {
      matches(
              "(?m)record: (?:\\w+:)?(traces_\\w+)",
              Files.readString(ROOT.resolve("deploy/prometheus").resolve(rules)))
          .forEach(record -> known.add(record.group(1)));
    }
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) ->
        METRIC
            .matcher(text)
            .results()
            .filter(metric -> !isMetric(metric.group(1), metric.group(2) != null, known))
            .forEach(metric -> missing.add(name(file) + ": " + metric.group())));

    assertThat(missing).isEmpty();
  }

  @Test
  void everyKeyExists() throws IOException {
    Set<String> agent = rows(documents.get(ROOT.resolve("docs/configuration-agent.md")));
    Set<String> server = rows(documents.get(ROOT.resolve("docs/configuration-server.md")));
    Set<String> values = rows(documents.get(ROOT.resolve("deploy/helm/trace-etl/README.md")));
    Set<String> known = new TreeSet<>(values);
    known.addAll(agent);
    server.forEach(key -> {
      known.add(key.replace("[]", ""));
      known.add(key.replace("[]", "").replaceFirst("^trace-etl\\.", ""));
    });
    Set<String> groups = new TreeSet<>();
    Stream.concat(agent.stream(), server.stream())
        .map(key -> key.replaceFirst("^trace-etl\\.", ""))
        .filter(key -> key.contains("."))
        .forEach(key -> groups.add(key.substring(0, key.indexOf('.'))));
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) -> {
      for (MatchResult code : matches(CODE.pattern(), FENCE.matcher(text).replaceAll(""))) {
        var key = KEY.matcher(code.group(1));
        if (key.matches()
            && !FILE_NAME.matcher(key.group(1)).matches()
            && !FOREIGN_KEY.matcher(key.group(1)).matches()
            && (key.group(1).startsWith("trace-etl.") || groups.contains(key.group(2)))
            && !isKey(key.group(1), known)) {
          missing.add(name(file) + ": " + key.group(1));
        }
      }
    });

    assertThat(known).hasSizeGreaterThan(100);
    assertThat(missing).isEmpty();
  }

  @Test
  void everyCommandAndOptionExists() {
    Set<String> options = new TreeSet<>();
    sources().forEach(source -> options.addAll(all(OPTION, source)));
    String bench = files.get(ROOT.resolve("bin/bench"));
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) -> {
      for (MatchResult command : matches(COMMAND.pattern(), text)) {
        String script = files.get(ROOT.resolve("bin/" + command.group(1)));
        if (script == null) {
          // The archive has it in bin.
          script = files.get(ROOT.resolve("deploy/release/" + command.group(1)));
        }
        if (script == null) {
          missing.add(name(file) + ": " + command.group());
          continue;
        }
        String itsText = script;
        all(OPTION, command.group(2)).stream()
            .filter(option -> !itsText.contains(option) && !options.contains(option))
            .forEach(
                option -> missing.add(name(file) + ": bin/" + command.group(1) + " " + option));
        String argument = command.group(2).strip().split(" ")[0];
        if (command.group(1).equals("bench")
            && argument.matches("[a-z]+")
            && !Pattern.compile("(?m)^  " + argument + " ").matcher(bench).find()) {
          missing.add(name(file) + ": bin/bench " + argument);
        }
      }
    });

    assertThat(missing).isEmpty();
  }

  @Test
  void everyTestAndBenchmarkExists() {
    Set<String> classes =
        files.keySet().stream()
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith(".java"))
            .map(name -> name.substring(0, name.length() - ".java".length()))
            .collect(Collectors.toSet());
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) ->
        matches(CODE.pattern(), text).stream()
            .flatMap(code -> all(CLASS, code.group(1)).stream())
            .filter(name -> !classes.contains(name))
            .forEach(name -> missing.add(name(file) + ": " + name)));

    assertThat(missing).isEmpty();
  }

  @Test
  void everyLinkLeadsToAFileAndASection() {
    List<String> missing = new ArrayList<>();

    documents.forEach((file, text) -> {
      for (MatchResult link : matches(LINK.pattern(), FENCE.matcher(text).replaceAll(""))) {
        if (!link.group(1).matches("(https?|mailto):.*")) {
          String[] parts = link.group(1).split("#", 2);
          Path target = parts[0].isEmpty() ? file : file.getParent().resolve(parts[0]).normalize();
          if (!leadsTo(target, parts.length > 1 ? parts[1] : null)) {
            missing.add(name(file) + ": " + link.group(1));
          }
        }
      }
    });
    files.forEach((file, text) -> {
      for (MatchResult mention : matches(MENTION.pattern(), text)) {
        if (!leadsTo(ROOT.resolve("docs").resolve(mention.group(1)), mention.group(2))) {
          missing.add(name(file) + ": " + mention.group());
        }
      }
    });

    assertThat(missing).isEmpty();
  }

  private static boolean leadsTo(Path target, String section) {
    return Files.exists(target)
        && (section == null
            || documents.containsKey(target) && sections(documents.get(target)).contains(section));
  }

  /** Returns sections by their link names. */
  private static Set<String> sections(String text) {
    return matches("(?m)^#+ (.*)$", FENCE.matcher(text).replaceAll("")).stream()
        .map(heading ->
            heading
                .group(1)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static List<String> logLines(String text) {
    List<String> lines = new ArrayList<>(all(LOG_LINE, text));
    int column = -1;
    for (String line : text.split("\n")) {
      if (!line.startsWith("|")) {
        column = -1;
        continue;
      }
      List<String> cells = Arrays.asList(line.split(" *\\| *"));
      if (column < 0) {
        column = cells.indexOf("log line");
      } else if (column < cells.size()) {
        lines.addAll(all(CODE, cells.get(column)));
      }
      if (column < 0) {
        column = Integer.MAX_VALUE;
      }
    }
    return lines;
  }

  private static boolean isMetric(String name, boolean prefix, Set<String> known) {
    if (prefix || name.endsWith("_")) {
      return known.stream().anyMatch(metric -> metric.startsWith(name));
    }
    String family = name.replaceFirst("_(bucket|sum|count|created)$", "");
    return known.contains(name)
        || known.contains(family)
        // The prefix that a profile gives to span metrics.
        || known.stream()
            .anyMatch(metric -> name.startsWith("traces_") && metric.startsWith(name + "_"));
  }

  private static boolean isKey(String key, Set<String> known) {
    return known.contains(key) || known.stream().anyMatch(one -> one.startsWith(key + "."));
  }

  /** Returns the names in the first cells of the tables. */
  private static Set<String> rows(String text) {
    return new TreeSet<>(all(Pattern.compile("(?m)^\\| `([^`]+)`"), text));
  }

  private static Stream<String> sources() {
    return files.entrySet().stream()
        .filter(file ->
            file.getKey().toString().contains("/src/main/java/")
                || file.getKey().startsWith(ROOT.resolve("bin")))
        .map(Map.Entry::getValue);
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.groupCount() == 0 ? match.group() : match.group(1))
        .toList();
  }

  private static List<MatchResult> matches(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().toList();
  }

  private static String name(Path file) {
    return ROOT.relativize(file).toString();
  }
}
