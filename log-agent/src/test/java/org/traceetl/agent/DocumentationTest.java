package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.config.FilterRules;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.kubernetes.ApiServer;

/** Tests that the documentation names exactly what exists. */
final class DocumentationTest {
  private static final Path DOCS = Path.of("..", "docs");

  @Test
  void examplesAreAccepted() throws Exception {
    List<String> examples = examples("log-agent.yaml");

    assertThat(examples).isNotEmpty();
    for (String example : examples) {
      ConfigReader.read(example, Map.of());
    }
  }

  @Test
  void examplesOfFiltersAreAccepted() throws Exception {
    List<String> examples = examples("filters.yaml");

    assertThat(examples).hasSize(2);
    for (String example : examples) {
      assertThat(FiltersFile.parse(example.getBytes(UTF_8))).isNotEqualTo(FilterRules.NONE);
    }
  }

  /** Returns the blocks of YAML in the manuals that begin with the file's name. */
  private static List<String> examples(String file) throws IOException {
    Pattern block =
        Pattern.compile("```yaml\n(# " + Pattern.quote(file) + ".*?)```", Pattern.DOTALL);
    List<String> found = new ArrayList<>();
    for (String manual : List.of("configuration-agent.md", "install.md", "operate.md")) {
      block
          .matcher(Files.readString(DOCS.resolve(manual)))
          .results()
          .forEach(match -> found.add(match.group(1)));
    }
    return found;
  }

  @Test
  void everyMetricIsDocumentedWithTypeAndHelp(@TempDir Path directory) throws Exception {
    Map<String, String> types = new TreeMap<>();
    Map<String, String> helps = new TreeMap<>();
    families(metricsOf(directory), types, helps);
    assertThat(types.keySet()).allMatch(name -> name.startsWith("trace_etl_agent_"));
    assertThat(helps.values()).allMatch(help -> help.endsWith("."));

    write(types, helps);
    Map<String, String> rows =
        rows(Files.readAllLines(DOCS.resolve("metrics.md")), "trace_etl_agent_.*");
    assertThat(rows).containsOnlyKeys(types.keySet());
    types.forEach(
        (name, type) -> assertThat(rows.get(name)).contains("| " + type + " |", helps.get(name)));
  }

  private static String metricsOf(Path directory) throws Exception {
    String yaml =
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {host: 127.0.0.1, port: 0}
        ring: {directory: %s/rings}
        forward: {endpoints: [{name: tempo, url: "http://127.0.0.1:1"}], keep: {enabled: true}}
        """
            .formatted(directory, directory);
    try (ApiServer pods = new ApiServer(directory, 0);
        RunningAgent agent =
            RunningAgent.start(
                ConfigReader.read(yaml + pods.yaml(), Map.of()).config(), Platform.SYSTEM)) {
      return AgentPage.get(agent, "/metrics").body();
    }
  }

  private static void families(String page, Map<String, String> types, Map<String, String> helps) {
    for (MatchResult line :
        Pattern.compile("^# (HELP|TYPE) (\\S+) (.*)$", Pattern.MULTILINE)
            .matcher(page)
            .results()
            .filter(line -> !line.group(2).endsWith("_created"))
            .toList()) {
      (line.group(1).equals("TYPE") ? types : helps).put(line.group(2), line.group(3));
    }
  }

  /** With {@code -Dtraceetl.docs.write=true}, writes types and help texts into the rows. */
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

  /** Returns rows of tables by the name in their first cell. */
  private static Map<String, String> rows(List<String> lines, String name) {
    Map<String, String> rows = new TreeMap<>();
    Pattern row = Pattern.compile("\\| `(" + name + "?)` \\|.*");
    for (String line : lines) {
      row.matcher(line).results().forEach(match -> rows.put(match.group(1), line));
    }
    return rows;
  }
}
