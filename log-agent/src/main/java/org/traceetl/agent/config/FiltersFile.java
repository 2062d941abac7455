package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.stream.Stream;
import org.traceetl.agent.config.FilterRules.Allowed;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Keep;
import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.config.FilterRules.Place;
import org.traceetl.agent.config.FilterRules.Redaction;
import org.traceetl.agent.config.FilterRules.Sample;
import org.traceetl.common.ConfigException;
import tools.jackson.core.JsonToken;

/**
 * The filters file: which spans need not be sent, and what of the others. Read anew while the agent
 * runs.
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
  /** More rules in one list, or more patterns in one rule, are refused. */
  static final int MAX_RULES = 1_000;

  /** Longer patterns and replacements are refused. */
  static final int MAX_PATTERN_BYTES = 1_024;

  /** Regular expressions that come to more when their repetitions are written out are refused. */
  static final int MAX_REPEATED = 10_000;

  private FiltersFile() {}

  /**
   * What a content of the file says.
   *
   * @throws ConfigException with all that is wrong, each with its line
   */
  public static FilterRules parse(byte[] content) throws ConfigException {
    return new Reading().rules(content);
  }

  private static final class Reading extends YamlReading {
    private static final List<String> ALL = List.of("*");
    // Indexes are OTLP's numbers.
    private static final List<String> KINDS =
        List.of("unspecified", "internal", "server", "client", "producer", "consumer");
    private static final List<Integer> ALL_KINDS = List.of(0, 1, 2, 3, 4, 5);
    private static final java.util.regex.Pattern DURATION =
        java.util.regex.Pattern.compile("([0-9]{1,8})(us|ms|s|m)");
    // First what ends a group, or may stand behind one and mean nothing; then from and to.
    private static final java.util.regex.Pattern REPETITION =
        java.util.regex.Pattern.compile("(\\)|\\\\E)?\\{([0-9]+)(?:,([0-9]*))?}");
    private static final Map<String, Long> NANOS =
        Map.of("us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L);
    // What servers take for slow, unless they are told otherwise.
    private static final long USUAL_SLOW_NANOS = 1_000_000_000L;

    private List<Drop> drop = List.of();
    private List<Sample> sample = List.of();
    private List<Allowed> attributes = List.of();
    private List<Redaction> redact = List.of();
    private int maxAttributes = Limits.NONE.attributes();
    private int maxValueBytes = Limits.NONE.valueBytes();
    private int maxNameBytes = Limits.NONE.nameBytes();
    private int maxStatusMessageBytes = Limits.NONE.statusMessageBytes();

    FilterRules rules(byte[] content) throws ConfigException {
      document(content, "drop, sample, attributes, limits, redact", this::read);
      check();
      return new FilterRules(
          drop,
          sample,
          attributes,
          new Limits(maxAttributes, maxValueBytes, maxNameBytes, maxStatusMessageBytes),
          redact);
    }

    private boolean read(String name, String key) {
      switch (name) {
        case "drop" -> drop = list(key, () -> new DropReading().rule(key));
        case "sample" -> sample = list(key, () -> new SampleReading().rule(key));
        case "attributes" -> attributes = list(key, () -> new AllowedReading().rule(key));
        case "redact" -> redact = list(key, () -> new RedactionReading().rule(key));
        case "limits" ->
            sectionOf(
                key,
                "max-attributes, max-value-bytes, max-name-bytes, max-status-message-bytes",
                this::limit);
        default -> {
          return false;
        }
      }
      return true;
    }

    private boolean limit(String name, String key) {
      int longest = org.traceetl.proto.Limits.MAX_STRING_BYTES;
      switch (name) {
        case "max-attributes" ->
            maxAttributes =
                integer(key, 0, org.traceetl.proto.Limits.MAX_ATTRIBUTES, maxAttributes);
        case "max-value-bytes" -> maxValueBytes = integer(key, 1, longest, maxValueBytes);
        case "max-name-bytes" -> maxNameBytes = integer(key, 1, longest, maxNameBytes);
        case "max-status-message-bytes" ->
            maxStatusMessageBytes = integer(key, 0, longest, maxStatusMessageBytes);
        default -> {
          return false;
        }
      }
      return true;
    }

    /** A list of sections; none where nothing stands after the key. */
    private <T> List<T> list(String key, Supplier<T> rule) {
      List<T> rules = new ArrayList<>();
      if (isAt(JsonToken.VALUE_NULL)) {
        return rules;
      }
      if (!isAt(JsonToken.START_ARRAY)) {
        problem(key, "a list of rules");
        return rules;
      }
      int line = line();
      while (nextElement()) {
        if (isAt(JsonToken.START_OBJECT)) {
          rules.add(rule.get());
        } else {
          problem(key, "a rule: a section of keys");
        }
      }
      if (rules.size() > MAX_RULES) {
        problemAt(line, key + " = " + rules.size() + " rules: not at most " + MAX_RULES);
      }
      return rules;
    }

    private void sectionOf(String key, String known, Key keys) {
      if (isAt(JsonToken.START_OBJECT)) {
        section(key + ".", known, keys);
      } else {
        problem(key, "a section of keys");
      }
    }

    /** One pattern, or a list of them. */
    private List<String> patterns(String key) {
      return patterns(key, 1);
    }

    private List<String> patterns(String key, int least) {
      int line = line();
      List<String> patterns;
      if (isAt(JsonToken.START_ARRAY)) {
        patterns = texts(key, "", "a pattern");
      } else if (isText()) {
        patterns = List.of(text());
      } else {
        problem(key, "a pattern, or a list of them");
        return ALL;
      }
      patterns.forEach(pattern -> checkLength(line, key, pattern));
      if (patterns.size() < least || patterns.size() > MAX_RULES) {
        problemAt(
            line,
            key
                + " = "
                + patterns.size()
                + " patterns: not "
                + least
                + " to "
                + MAX_RULES
                + " of them");
      }
      return patterns;
    }

    /** The same, but an empty list is none. */
    private List<String> patternsOrNone(String key) {
      return patterns(key, 0);
    }

    private void checkLength(int line, String key, String pattern) {
      int bytes = pattern.getBytes(UTF_8).length;
      if (bytes > MAX_PATTERN_BYTES) {
        problemAt(line, key + " = " + bytes + " bytes: not at most " + MAX_PATTERN_BYTES);
      }
    }

    /** The names, one or a list of them, as numbers. */
    private List<Integer> numbers(String key, List<String> names, List<Integer> otherwise) {
      List<Integer> numbers = new ArrayList<>();
      if (!isAt(JsonToken.START_ARRAY)) {
        number(key, names, numbers);
        return numbers.isEmpty() ? otherwise : numbers;
      }
      int line = line();
      int elements = 0;
      while (nextElement()) {
        number(key, names, numbers);
        elements++;
      }
      if (elements == 0) {
        // All, or none? Whoever writes it means one of the two.
        problemAt(line, key + " is empty: name at least one of " + String.join(", ", names));
      }
      return numbers.isEmpty() ? otherwise : numbers;
    }

    private void number(String key, List<String> names, List<Integer> into) {
      int number = isAt(JsonToken.VALUE_STRING) ? names.indexOf(text()) : -1;
      if (number < 0) {
        problem(key, String.join(" or ", names));
      } else if (!into.contains(number)) {
        into.add(number);
      }
    }

    private long nanos(String key, long otherwise) {
      java.util.regex.Matcher duration = DURATION.matcher(isText() ? text() : "");
      if (!duration.matches()) {
        problem(key, "a whole number with a unit: us, ms, s or m, such as 100ms");
        return otherwise;
      }
      MatchResult parts = duration.toMatchResult();
      return Long.parseLong(parts.group(1)) * NANOS.get(parts.group(2));
    }

    /** What is read of one rule. */
    private abstract class RuleReading {
      List<String> applications = ALL;
      private int line;

      final void read(String list, String known, Key keys) {
        line = line();
        section(list + ".", known, keys);
      }

      final void missing(String key) {
        problemAt(line, key + ": is missing in the rule that begins here");
      }
    }

    private final class DropReading extends RuleReading {
      private List<Integer> kinds = ALL_KINDS;
      private List<String> names = ALL;
      private final Map<String, String> attributes = new LinkedHashMap<>();
      private long slowNanos = USUAL_SLOW_NANOS;
      private Keep keep = Keep.METRICS;
      private List<String> dimensions = List.of();

      Drop rule(String list) {
        read(
            list,
            "application, kind, name, attributes, unless-slower-than, keep, dimensions",
            this::key);
        return new Drop(applications, kinds, names, attributes, slowNanos, keep, dimensions);
      }

      private boolean key(String name, String key) {
        switch (name) {
          case "application" -> applications = patterns(key);
          case "kind" -> kinds = numbers(key, KINDS, ALL_KINDS);
          case "name" -> names = patterns(key);
          case "attributes" -> attributes(key);
          case "unless-slower-than" -> slowNanos = nanos(key, slowNanos);
          case "keep" -> keep = choice(key, keep);
          case "dimensions" -> dimensions = patternsOrNone(key);
          default -> {
            return false;
          }
        }
        return true;
      }

      private void attributes(String key) {
        int line = line();
        sectionOf(key, "", this::attribute);
        if (attributes.size() > MAX_RULES) {
          problemAt(line, key + " = " + attributes.size() + " keys: not at most " + MAX_RULES);
        }
      }

      private boolean attribute(String name, String key) {
        if (isText()) {
          checkLength(line(), "a key in drop.attributes", name);
          checkLength(line(), key, text());
          attributes.put(name, text());
        } else {
          problem(key, "a pattern of the value");
        }
        return true;
      }
    }

    private final class SampleReading extends RuleReading {
      private double ratio;
      private boolean errors = true;
      private long slowNanos = Long.MAX_VALUE;

      Sample rule(String list) {
        read(list, "application, ratio, always", this::key);
        if (ratio == 0) {
          missing(list + ".ratio");
        }
        return new Sample(applications, ratio, errors, slowNanos);
      }

      private boolean key(String name, String key) {
        switch (name) {
          case "application" -> applications = patterns(key);
          case "ratio" -> ratio = ratio(key);
          case "always" -> sectionOf(key, "errors, slower-than", this::always);
          default -> {
            return false;
          }
        }
        return true;
      }

      private double ratio(String key) {
        double number = number();
        if (number >= Sample.LEAST_RATIO && number <= 1) {
          return number;
        }
        problem(key, "a number from 0.000001 to 1; spans that nobody needs are for drop");
        return 1;
      }

      private boolean always(String name, String key) {
        switch (name) {
          case "errors" -> errors = flag(key, errors);
          case "slower-than" -> slowNanos = nanos(key, slowNanos);
          default -> {
            return false;
          }
        }
        return true;
      }
    }

    private final class AllowedReading extends RuleReading {
      private List<String> span;
      private List<String> resource;

      Allowed rule(String list) {
        read(list, "application, span, resource", this::key);
        if (span == null && resource == null) {
          missing(list + ".span or " + list + ".resource");
        }
        return new Allowed(applications, span, resource);
      }

      private boolean key(String name, String key) {
        switch (name) {
          case "application" -> applications = patterns(key);
          case "span" -> span = patternsOrNone(key);
          case "resource" -> resource = patternsOrNone(key);
          default -> {
            return false;
          }
        }
        return true;
      }
    }

    private final class RedactionReading extends RuleReading {
      private String pattern;
      private List<Place> in = List.of(Place.values());
      private List<String> keys = ALL;
      private String replacement = "[redacted]";

      Redaction rule(String list) {
        read(list, "pattern, in, attributes, replace", this::key);
        if (pattern == null) {
          missing(list + ".pattern");
        }
        return new Redaction(pattern, in, keys, replacement);
      }

      private boolean key(String name, String key) {
        switch (name) {
          case "pattern" -> pattern = expression(key);
          case "in" ->
              in =
                  numbers(key, Stream.of(Place.values()).map(YamlReading::name).toList(), List.of())
                      .stream()
                      .map(number -> Place.values()[number])
                      .toList();
          case "attributes" -> keys = patterns(key);
          case "replace" -> replacement = replacement(key);
          default -> {
            return false;
          }
        }
        return true;
      }

      private String expression(String key) {
        String expression = isText() ? text() : "";
        if (expression.getBytes(UTF_8).length > MAX_PATTERN_BYTES) {
          checkLength(line(), key, expression);
          return expression;
        }
        if (repeated(expression) > MAX_REPEATED) {
          problem(
              key, "an expression whose repetitions come to at most " + MAX_REPEATED + " signs");
          return expression;
        }
        String wrong = "a regular expression of RE2 that no empty text matches";
        try {
          if (expression.isEmpty() || Pattern.compile(expression).matcher("").find()) {
            problem(key, wrong);
          }
        } catch (PatternSyntaxException e) {
          problem(key, wrong + ": " + e.getMessage());
        }
        return expression;
      }

      /**
       * At least as many signs as the expression has when its repetitions are written out, which
       * compiling does: repetitions of groups count as if each were within the others.
       */
      private static double repeated(String expression) {
        double signs = expression.length();
        double groups = 1;
        java.util.regex.Matcher repetition = REPETITION.matcher(expression);
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

      private String replacement(String key) {
        if (!isAt(JsonToken.VALUE_STRING)) {
          problem(key, "text");
          return replacement;
        }
        checkLength(line(), key, text());
        return text();
      }
    }
  }
}
