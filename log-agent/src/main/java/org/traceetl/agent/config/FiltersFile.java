package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.traceetl.agent.config.FilterRules.Allowed;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Keep;
import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.config.FilterRules.Place;
import org.traceetl.agent.config.FilterRules.Redaction;
import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.common.ConfigException;

/**
 * The filters file: which spans an agent does not send, and what it removes from the others. It is
 * reloaded.
 *
 * <pre>
 * drop:
 *   - {application: checkout, kind: client, attributes: {db.system: redis}, unless-slower-than: 50ms}
 * sample:
 *   - {application: "batch-*", ratio: 0.1, always: {errors: true, slower-than: 1s}}
 * attributes:
 *   - {application: "*", span: ["http.*", "db.*"], resource: ["k8s.*"]}
 * limits: {max-attributes: 64, max-value-bytes: 1024}
 * redact:
 *   - {pattern: '[0-9]{13,19}', in: [values, names], replace: "[number]"}
 * </pre>
 */
public final class FiltersFile {
  /** Most rules in a list, and most patterns in a rule. */
  static final int MAX_RULES = 1_000;

  /** Longest pattern and replacement, bytes. */
  static final int MAX_PATTERN_BYTES = 1_024;

  /** Most characters of a regular expression whose repetitions are written out. */
  static final int MAX_REPEATED = 10_000;

  private static final List<String> ALL = List.of("*");
  // Indexes are OTLP's numbers.
  private static final List<String> KINDS =
      List.of("unspecified", "internal", "server", "client", "producer", "consumer");
  private static final List<String> PLACES =
      Stream.of(Place.values()).map(place -> ConfigException.canonical(place.name())).toList();
  private static final java.util.regex.Pattern DURATION =
      java.util.regex.Pattern.compile("([0-9]{1,8})(us|ms|s|m)");
  // The end of a group, or a sign that may follow it without a meaning; then the bounds.
  private static final java.util.regex.Pattern REPETITION =
      java.util.regex.Pattern.compile("(\\)|\\\\E)?\\{([0-9]+)(?:,([0-9]*))?}");
  private static final Map<String, Long> NANOS =
      Map.of("us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L);
  // The servers' default for slow spans.
  private static final long DEFAULT_SLOW_NANOS = 1_000_000_000L;

  private FiltersFile() {}

  /**
   * Reads the content of the file.
   *
   * @throws ConfigException with all problems, each with its line
   */
  public static FilterRules parse(byte[] content) {
    Settings file = Settings.ofRules(content);
    FilterRules rules =
        new FilterRules(
            rules(file, "drop", FiltersFile::drop),
            rules(file, "sample", FiltersFile::sample),
            rules(file, "attributes", FiltersFile::allowed),
            limits(file.section("limits")),
            rules(file, "redact", FiltersFile::redaction));
    file.check();
    return rules;
  }

  private static <T> List<T> rules(Settings file, String key, Function<Settings, T> rule) {
    List<T> rules = file.list(key, rule);
    if (rules.size() > MAX_RULES) {
      file.problem(key, rules.size() + " rules", "must be at most " + MAX_RULES);
    }
    return rules;
  }

  private static Drop drop(Settings rule) {
    return new Drop(
        patterns(rule, "application"),
        numbers(rule, "kind", KINDS),
        patterns(rule, "name"),
        attributes(rule),
        nanos(rule, "unless-slower-than", DEFAULT_SLOW_NANOS),
        rule.choice("keep", Keep.METRICS),
        patterns(rule, "dimensions", 0, List.of()));
  }

  private static Map<String, String> attributes(Settings rule) {
    Map<String, String> attributes = new LinkedHashMap<>();
    YamlNode node = rule.node("attributes");
    if (node == null) {
      return attributes;
    }
    if (node.keys() == null || node.value() == null) {
      rule.invalid("attributes", node, "a section of keys");
      return attributes;
    }
    node.keys()
        .forEach((key, value) -> {
          String name = "attributes." + key;
          if (isText(value)) {
            checkLength(rule, "attributes", value, "a key of ", key);
            checkLength(rule, name, value, "", value.text());
            attributes.put(key, value.text());
          } else {
            rule.invalid(name, value, "a pattern of the value");
          }
        });
    if (attributes.size() > MAX_RULES) {
      rule.problem("attributes", attributes.size() + " keys", "must be at most " + MAX_RULES);
    }
    return attributes;
  }

  private static Sample sample(Settings rule) {
    List<String> applications = patterns(rule, "application");
    double ratio =
        rule.value(
            "ratio",
            1.0,
            "a number from 0.000001 to 1; to send no spans, use drop",
            node ->
                node.value() instanceof Number number
                        && number.doubleValue() >= Sample.LEAST_RATIO
                        && number.doubleValue() <= 1
                    ? number.doubleValue()
                    : null);
    if (!rule.has("ratio")) {
      rule.missing("ratio");
    }
    Settings always = rule.section("always");
    return new Sample(
        applications,
        ratio,
        always.flag("errors", true),
        nanos(always, "slower-than", Long.MAX_VALUE));
  }

  private static Allowed allowed(Settings rule) {
    Allowed allowed =
        new Allowed(
            patterns(rule, "application"),
            patterns(rule, "span", 0, null),
            patterns(rule, "resource", 0, null));
    if (!rule.has("span") && !rule.has("resource")) {
      rule.missing("span or attributes.resource");
    }
    return allowed;
  }

  private static Limits limits(Settings section) {
    int longest = org.traceetl.proto.Limits.MAX_STRING_BYTES;
    return new Limits(
        section.integer(
            "max-attributes",
            Limits.NONE.attributes(),
            0,
            org.traceetl.proto.Limits.MAX_ATTRIBUTES),
        section.integer("max-value-bytes", Limits.NONE.valueBytes(), 1, longest),
        section.integer("max-name-bytes", Limits.NONE.nameBytes(), 1, longest),
        section.integer("max-status-message-bytes", Limits.NONE.statusMessageBytes(), 0, longest));
  }

  private static Redaction redaction(Settings rule) {
    String pattern = expression(rule);
    List<Place> in =
        numbers(rule, "in", PLACES).stream().map(number -> Place.values()[number]).toList();
    List<String> keys = patterns(rule, "attributes");
    String replacement =
        rule.value(
            "replace",
            "[redacted]",
            "text",
            node -> node.value() instanceof String text ? text : null);
    if (rule.has("replace")) {
      checkLength(rule, "replace", rule.node("replace"), "", replacement);
    }
    return new Redaction(pattern, in, keys, replacement);
  }

  private static String expression(Settings rule) {
    YamlNode node = rule.node("pattern");
    if (node == null) {
      rule.missing("pattern");
      return "";
    }
    String expression = isText(node) ? node.text() : "";
    if (!checkLength(rule, "pattern", node, "", expression)) {
      return expression;
    }
    if (repeated(expression) > MAX_REPEATED) {
      rule.invalid(
          "pattern",
          node,
          "an expression of at most " + MAX_REPEATED + " characters with its repetitions");
      return expression;
    }
    String allowed = "a regular expression of RE2 that does not match empty text";
    try {
      if (expression.isEmpty() || Pattern.compile(expression).matcher("").find()) {
        rule.invalid("pattern", node, allowed);
      }
    } catch (PatternSyntaxException e) {
      rule.invalid("pattern", node, allowed + ": " + e.getMessage());
    }
    return expression;
  }

  /**
   * Returns at least the length of the expression when its repetitions are written out, as
   * compiling does. Repetitions of groups count as if each were within the others.
   */
  private static double repeated(String expression) {
    double signs = expression.length();
    double groups = 1;
    Matcher repetition = REPETITION.matcher(expression);
    while (repetition.find()) {
      double most =
          Stream.of(repetition.group(2), repetition.group(3))
              .filter(number -> number != null && !number.isEmpty())
              .mapToDouble(Double::parseDouble)
              .reduce(1, Math::max);
      if (repetition.group(1) == null) {
        signs += most;
      } else {
        groups *= most;
      }
    }
    return signs * groups;
  }

  private static List<String> patterns(Settings rule, String key) {
    return patterns(rule, key, 1, ALL);
  }

  /** Reads one pattern, or a list of at least {@code least}. */
  private static List<String> patterns(
      Settings rule, String key, int least, List<String> fallback) {
    YamlNode node = rule.node(key);
    if (node == null) {
      return fallback;
    }
    List<String> patterns = new ArrayList<>();
    for (YamlNode each : node.elements()) {
      if (isText(each)) {
        checkLength(rule, key, each, "", each.text());
        patterns.add(each.text());
      } else {
        rule.invalid(key, each, node.isList() ? "a pattern" : "a pattern, or a list of them");
      }
    }
    int size = node.elements().size();
    if (size < least || size > MAX_RULES) {
      rule.problem(key, size + " patterns", "must be " + least + " to " + MAX_RULES);
    }
    return patterns;
  }

  /** Reads one name, or a list of names, as their indexes; all if the key is absent. */
  private static List<Integer> numbers(Settings rule, String key, List<String> names) {
    YamlNode node = rule.node(key);
    if (node == null) {
      return IntStream.range(0, names.size()).boxed().toList();
    }
    List<Integer> numbers = new ArrayList<>();
    for (YamlNode each : node.elements()) {
      int number = !each.alias() && each.value() instanceof String name ? names.indexOf(name) : -1;
      if (number < 0) {
        rule.invalid(key, each, String.join(" or ", names));
      } else if (!numbers.contains(number)) {
        numbers.add(number);
      }
    }
    if (node.elements().isEmpty()) {
      // It could mean all or none.
      rule.problem(key, "an empty list", "must have at least one of " + String.join(", ", names));
    }
    return numbers;
  }

  private static long nanos(Settings rule, String key, long fallback) {
    return rule.value(
        key,
        fallback,
        "a whole number with a unit: us, ms, s or m, such as 100ms",
        node -> {
          Matcher duration = DURATION.matcher(node.text());
          return duration.matches()
              ? Long.parseLong(duration.group(1)) * NANOS.get(duration.group(2))
              : null;
        });
  }

  private static boolean isText(YamlNode node) {
    return node.isScalar() && !node.text().isEmpty();
  }

  private static boolean checkLength(
      Settings rule, String key, YamlNode at, String what, String text) {
    int bytes = text.getBytes(UTF_8).length;
    if (bytes > MAX_PATTERN_BYTES) {
      rule.problem(key, what + bytes + " bytes", "must be at most " + MAX_PATTERN_BYTES, at.line());
    }
    return bytes <= MAX_PATTERN_BYTES;
  }
}
