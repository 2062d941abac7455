package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The variables of a dashboard with their values, inserted into queries by Grafana's rules. */
final class GrafanaVariables {
  private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");
  private static final Pattern REGEX_CHARACTER = Pattern.compile("[$^*{}\\[\\]'+?.()|]");
  private static final Pattern LUCENE_CHARACTER =
      Pattern.compile("[!*+\\-=<>\\s&|()\\[\\]{}^~?:\\\\/\"]");
  private static final String ALL = "$__all";

  enum Choice {
    /** The dashboard's defaults. */
    DEFAULTS,
    /** All values, where a variable permits it. */
    EVERYTHING
  }

  /**
   * A variable's values.
   *
   * @param several whether more than one can be chosen; they are then inserted as alternatives
   * @param allValue the literal text for all values; null: certain values are chosen
   */
  private record Chosen(List<String> values, boolean several, String allValue) {}

  private final Map<String, Chosen> chosen = new HashMap<>();

  private GrafanaVariables() {}

  /**
   * Queries the values of each variable, in their order, and chooses.
   *
   * @param given values of variables that have no default
   * @throws AssertionError if a query has no values, or lacks the chosen ones
   */
  static GrafanaVariables resolve(
      Dashboard dashboard,
      Choice choice,
      Map<String, String> given,
      Prometheus prometheus,
      ElasticsearchQueries elasticsearch)
      throws Exception {
    GrafanaVariables variables = new GrafanaVariables();
    for (JsonNode variable : dashboard.variables()) {
      String name = variable.path("name").asString();
      switch (variable.path("type").asString()) {
        case "datasource" -> {
          // Not used in queries.
        }
        case "query" -> {
          List<String> options = variables.options(variable, prometheus, elasticsearch);
          assertThat(options).as(name).isNotEmpty();
          variables.choose(name, variable, choice, given.get(name), options);
        }
        case "custom" ->
            variables.choose(
                name,
                variable,
                choice,
                null,
                List.of(variable.path("query").asString().split(", *", -1)));
        default ->
            variables.chosen.put(
                name,
                new Chosen(
                    List.of(variable.path("current").path("value").asString()), false, null));
      }
    }
    return variables;
  }

  private List<String> options(
      JsonNode variable, Prometheus prometheus, ElasticsearchQueries elasticsearch)
      throws Exception {
    if (Dashboard.isFor("elasticsearch", variable)) {
      return elasticsearch.terms(
          new JsonMapper().readTree(variable.path("query").asString()), this);
    }
    Matcher query = LABEL_VALUES.matcher(variable.path("query").path("query").asString());
    assertThat(query.matches()).as(variable.toString()).isTrue();
    return prometheus.labelValues(query.group(2), inPromql(query.group(1)));
  }

  private void choose(
      String name, JsonNode variable, Choice choice, String given, List<String> options) {
    boolean several = variable.path("multi").asBoolean(false);
    JsonNode current = variable.path("current").path("value");
    List<String> values =
        current.isArray()
            ? current.valueStream().map(JsonNode::asString).toList()
            : List.of(given == null ? options.getFirst() : given);
    boolean all = choice == Choice.EVERYTHING && variable.path("includeAll").asBoolean(false);
    if (all || values.contains(ALL)) {
      chosen.put(name, new Chosen(List.of(), several, variable.path("allValue").asString()));
    } else {
      assertThat(options).as(name).containsAll(values);
      chosen.put(name, new Chosen(values, several, null));
    }
  }

  /** Inserts values into PromQL, with the intervals of a dashboard for the last minute. */
  String inPromql(String expression) {
    return replace(
        expression.replace("$__rate_interval", "30s").replace("$__range", "60s"),
        (value, several) -> several ? regexEscaped(value) : value.replace("\\", "\\\\"),
        "|");
  }

  /** Inserts values as the Elasticsearch data source does. */
  String inLucene(String query) {
    return replace(
        query,
        (value, several) -> several ? '"' + luceneEscaped(value) + '"' : luceneEscaped(value),
        " OR ");
  }

  private interface Escape {
    String escape(String value, boolean several);
  }

  private String replace(String text, Escape escape, String or) {
    return Dashboard.VARIABLE
        .matcher(text)
        .replaceAll(match -> {
          String name = match.group(1) != null ? match.group(1) : match.group(2);
          Chosen one = chosen.get(name);
          assertThat(one).as(name + " in " + text).isNotNull();
          Function<String, String> escaped =
              "raw".equals(match.group(3))
                  ? Function.identity()
                  : value -> escape.escape(value, one.several);
          String with;
          if (one.allValue != null) {
            with = one.allValue;
          } else if (one.values.size() == 1 && !or.equals(" OR ")) {
            with = escaped.apply(one.values.getFirst());
          } else {
            with = one.values.stream().map(escaped).collect(Collectors.joining(or));
            with = one.several ? "(" + with + ")" : with;
          }
          return Matcher.quoteReplacement(with);
        });
  }

  private static String regexEscaped(String value) {
    return REGEX_CHARACTER
        .matcher(value.replace("\\", "\\\\\\\\"))
        .replaceAll(match -> Matcher.quoteReplacement("\\\\" + match.group()));
  }

  private static String luceneEscaped(String value) {
    return LUCENE_CHARACTER
        .matcher(value)
        .replaceAll(match -> Matcher.quoteReplacement("\\" + match.group()));
  }
}
