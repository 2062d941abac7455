package org.traceetl.standalone;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A dashboard of {@code deploy/grafana} with all its queries.
 *
 * @param name of its file
 */
record Dashboard(String name, JsonNode json) {
  private static final Path DIRECTORY =
      Path.of(System.getProperty("basedir", "."), "..", "deploy", "grafana");

  /** Variables in a text, as {@code $name} or <code>${name:format}</code>. */
  static final Pattern VARIABLE = Pattern.compile("\\$(?:(\\w+)|\\{(\\w+)(?::(\\w+))?})");

  /**
   * A panel.
   *
   * @param row the panel's row; empty: none
   */
  record Panel(String row, JsonNode json) {
    String title() {
      return json.path("title").asString();
    }
  }

  /**
   * A Prometheus query of a panel or an annotation.
   *
   * @param where its place in the dashboard
   * @param row the panel's row; empty: none
   */
  record Query(String where, String row, String expression, boolean instant, boolean exemplars) {}

  /**
   * An Elasticsearch query of a panel.
   *
   * @param where its place in the dashboard
   */
  record Search(String where, JsonNode target) {}

  static List<Dashboard> all() throws IOException {
    List<Dashboard> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".json")).sorted().toList()) {
        String name = file.getFileName().toString().replaceFirst("\\.json$", "");
        all.add(new Dashboard(name, new JsonMapper().readTree(Files.readString(file))));
      }
    }
    return all;
  }

  List<Panel> panels() {
    List<Panel> panels = new ArrayList<>();
    String row = "";
    for (JsonNode one : json.path("panels")) {
      if (one.path("type").asString().equals("row")) {
        row = one.path("title").asString();
        for (JsonNode collapsed : one.path("panels")) {
          panels.add(new Panel(row, collapsed));
        }
      } else {
        panels.add(new Panel(row, one));
      }
    }
    return panels;
  }

  List<Query> queries() {
    List<Query> queries = new ArrayList<>();
    for (Panel panel : panels()) {
      for (JsonNode target : panel.json.path("targets")) {
        if (isFor("prometheus", target)) {
          queries.add(
              new Query(
                  where(panel, target),
                  panel.row,
                  target.path("expr").asString(),
                  target.path("instant").asBoolean(false),
                  target.path("exemplar").asBoolean(false)));
        }
      }
    }
    for (JsonNode annotation : json.path("annotations").path("list")) {
      if (isFor("prometheus", annotation)) {
        queries.add(
            new Query(
                name + ", annotation " + annotation.path("name").asString(),
                "",
                annotation.path("expr").asString(),
                false,
                false));
      }
    }
    return queries;
  }

  List<Search> searches() {
    List<Search> searches = new ArrayList<>();
    for (Panel panel : panels()) {
      for (JsonNode target : panel.json.path("targets")) {
        if (isFor("elasticsearch", target)) {
          searches.add(new Search(where(panel, target), target));
        }
      }
    }
    return searches;
  }

  private String where(Panel panel, JsonNode target) {
    return name + ", " + panel.title() + " " + target.path("refId").asString();
  }

  List<JsonNode> variables() {
    List<JsonNode> variables = new ArrayList<>();
    json.path("templating").path("list").forEach(variables::add);
    return variables;
  }

  static boolean isFor(String kind, JsonNode asking) {
    return asking.path("datasource").path("type").asString("").equals(kind);
  }
}
