package org.traceetl.server.migration;

import com.google.common.base.Splitter;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.traceetl.server.config.SpanKind;

/**
 * Translates Tempo's filter policies into filters, which exclude spans by application, name and
 * kind. A policy is translated as a whole or not at all.
 */
final class FilterPolicies {
  private static final int MAX_ALTERNATIVES = 100;
  private static final int MAX_TEXT = 1_000;
  private static final String KINDS = "SPAN_KIND_";
  private static final String ALL = "is left out: it would exclude all spans";

  /** What a policy selects; null for everything. */
  private static final class Match {
    private List<String> applications;
    private List<String> names;
    private Set<SpanKind> kinds;
  }

  private final Report report;
  private final List<Map<String, String>> filters = new ArrayList<>();

  FilterPolicies(Report report) {
    this.report = report;
  }

  List<Map<String, String>> translate(Value policies) {
    List<Section> sections = policies.list().stream().map(Value::section).toList();
    List<Value> includes = new ArrayList<>();
    boolean any = false;
    for (Section policy : sections) {
      Value exclude = policy.take("exclude");
      if (exclude.present()) {
        exclude(exclude);
      }
      Value include = policy.take("include");
      if (include.present()) {
        includes.add(include);
      }
      Value includeAny = policy.take("include_any");
      if (includeAny.present()) {
        any = true;
        report.gap(
            includeAny,
            "is left out, and include with it: filters of trace-etl exclude spans; write what is"
                + " to be excluded in trace-etl.series.filters");
      }
      policy.reportRest(Map.of(), SpanMetricsConnector.UNKNOWN);
    }
    for (Value include : includes) {
      if (any) {
        report.gap(include, "is left out because of include_any");
      } else {
        include(include);
      }
    }
    return filters;
  }

  private void exclude(Value policy) {
    Match match = match(policy);
    if (match == null) {
      report.gap(
          policy,
          "is left out: filters of trace-etl match application, span name and kind, by whole texts"
              + " with * as wildcard; spans with other attributes: drop in the agents' filters file");
      return;
    }
    if (match.applications == null && match.names == null && match.kinds == null) {
      report.gap(policy, ALL);
      return;
    }
    if (match.kinds != null && match.kinds.isEmpty()) {
      // It matches no span.
      return;
    }
    for (String application : orNull(match.applications)) {
      for (String name : orNull(match.names)) {
        if ((application == null || application.equals("*"))
            && (name == null || name.equals("*"))
            && match.kinds == null) {
          report.gap(policy, ALL);
        } else {
          add(application, name, match.kinds);
        }
      }
    }
  }

  private static List<String> orNull(List<String> texts) {
    List<String> nothing = new ArrayList<>();
    nothing.add(null);
    return texts == null ? nothing : texts;
  }

  private void include(Value policy) {
    Match match = match(policy);
    if (match == null || match.applications != null || match.names != null) {
      report.gap(
          policy,
          "is left out: filters of trace-etl exclude spans, so of the attributes of include only"
              + " kind can be translated; select by labels in queries");
      return;
    }
    if (match.kinds == null) {
      return;
    }
    if (match.kinds.isEmpty()) {
      report.gap(policy, ALL);
      return;
    }
    Set<SpanKind> others = EnumSet.allOf(SpanKind.class);
    others.removeAll(match.kinds);
    if (!others.isEmpty()) {
      add(null, null, others);
    }
  }

  private void add(String application, String name, Set<SpanKind> kinds) {
    Map<String, String> filter = new LinkedHashMap<>();
    if (application != null) {
      filter.put("application", ServerYaml.text(application));
    }
    if (name != null) {
      filter.put("span-name", ServerYaml.text(name));
    }
    if (kinds != null) {
      filter.put(
          "kinds",
          kinds.stream()
              .map(kind -> kind.name().toLowerCase(Locale.ROOT))
              .sorted()
              .collect(Collectors.joining(", ", "[", "]")));
    }
    filters.add(filter);
  }

  /** Returns what the policy selects; null if filters cannot express it. */
  private Match match(Value policy) {
    Section section = policy.section();
    Value type = section.take("match_type");
    boolean regex = type.text("").equals("regex");
    if (!regex && !type.text("").equals("strict")) {
      report.problem(type.present() ? type : policy, "must have match_type strict or regex");
    }
    Match match = new Match();
    for (Value item : section.take("attributes").list()) {
      Section attribute = item.section();
      Value key = attribute.take("key");
      Value value = attribute.take("value");
      String text = value.text("");
      if (text.length() > MAX_TEXT) {
        return null;
      }
      switch (key.text("")) {
        case "kind", "span:kind" -> {
          Set<SpanKind> kinds = kinds(value, text, regex);
          if (match.kinds == null) {
            match.kinds = kinds;
          } else {
            match.kinds.retainAll(kinds);
          }
        }
        case "name", "span:name" -> {
          List<String> names = regex ? wildcards(text) : literal(text);
          if (names == null || match.names != null) {
            return null;
          }
          match.names = names;
        }
        case "resource.service.name" -> {
          List<String> applications = regex ? wildcards(text) : literal(text);
          if (applications == null || match.applications != null) {
            return null;
          }
          match.applications = applications;
        }
        default -> {
          return null;
        }
      }
    }
    int alternatives =
        orNull(match.applications).size() * orNull(match.names).size() + filters.size();
    return alternatives > MAX_ALTERNATIVES ? null : match;
  }

  private Set<SpanKind> kinds(Value value, String text, boolean regex) {
    Set<SpanKind> kinds = EnumSet.noneOf(SpanKind.class);
    try {
      Pattern pattern = Pattern.compile(regex ? text : "^" + Pattern.quote(text) + "$");
      for (SpanKind kind : SpanKind.values()) {
        if (pattern.matcher(KINDS + kind.name()).find()) {
          kinds.add(kind);
        }
      }
    } catch (PatternSyntaxException e) {
      report.problem(value, "must be a regular expression: " + e.getDescription());
    }
    return kinds;
  }

  /** A star would match more than itself. */
  private static List<String> literal(String text) {
    return text.isEmpty() || text.contains("*") ? null : List.of(text);
  }

  /**
   * Returns the wildcards that match what an expression matches; null if it has more than texts,
   * {@code .*}, anchors and alternatives.
   */
  static List<String> wildcards(String regex) {
    if (regex.isEmpty()) {
      return null;
    }
    boolean start = regex.startsWith("^");
    boolean end = regex.endsWith("$") && !regex.endsWith("\\$");
    String inner = regex.substring(start ? 1 : 0, regex.length() - (end ? 1 : 0));
    boolean group = inner.startsWith("(") && inner.endsWith(")") && !inner.endsWith("\\)");
    if (group) {
      inner = inner.substring(inner.startsWith("(?:") ? 3 : 1, inner.length() - 1);
    }
    List<String> wildcards = new ArrayList<>();
    for (String alternative : Splitter.on('|').split(inner)) {
      String wildcard = wildcard(alternative);
      // Without a group, an anchor belongs to its alternative alone.
      boolean several = !group && inner.contains("|") && (start || end);
      if (wildcard == null || several || inner.contains("\\|")) {
        return null;
      }
      wildcards.add(((start ? "" : "*") + wildcard + (end ? "" : "*")).replaceAll("\\*{2,}", "*"));
    }
    return wildcards;
  }

  private static String wildcard(String regex) {
    StringBuilder wildcard = new StringBuilder();
    for (int i = 0; i < regex.length(); i++) {
      char c = regex.charAt(i);
      if (c == '.' && regex.startsWith(".*", i)) {
        wildcard.append('*');
        i++;
        if (regex.startsWith("?", i + 1)) {
          i++;
        }
      } else if (c == '\\' && i + 1 < regex.length()) {
        i++;
        char escaped = regex.charAt(i);
        if (Character.isLetterOrDigit(escaped) || escaped == '*') {
          return null;
        }
        wildcard.append(escaped);
      } else if (".*+?()[]{}|^$\\".indexOf(c) >= 0) {
        return null;
      } else {
        wildcard.append(c);
      }
    }
    return wildcard.toString();
  }
}
