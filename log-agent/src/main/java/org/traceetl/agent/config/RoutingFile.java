package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The routing file: the same on all agents, and read anew while they run.
 *
 * <pre>
 * queues-per-application: 2
 * spread: series
 * applications:
 *   checkout: {queues: 8}
 *   "batch-*": {queues: 1}
 * exclude: [load-test, "canary-*"]
 * </pre>
 *
 * What it does not say is as in the rules beneath it; an application that it names has no other
 * rule than that, and a list of excluded ones replaces the one beneath.
 *
 * @param path where it is; may lead over symbolic links that change
 */
public record RoutingFile(Path path) {
  /** A longer file is refused. */
  static final int MAX_BYTES = 1024 * 1024;

  /** More rules, or more excluded names, are refused. */
  static final int MAX_NAMES = 10_000;

  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /**
   * The file as it is now.
   *
   * @throws IOException when it cannot be read, or is too long
   */
  public byte[] content() throws IOException {
    try (InputStream in = Files.newInputStream(path)) {
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length > MAX_BYTES) {
        throw new IOException("longer than " + MAX_BYTES + " bytes");
      }
      return content;
    }
  }

  /**
   * What a content of the file says.
   *
   * @param beneath the rules that hold where it says nothing
   * @throws ConfigException with all that is wrong, each with its line
   */
  public static RoutingRules parse(byte[] content, RoutingRules beneath) throws ConfigException {
    return new Reading(beneath).rules(content);
  }

  /** One pass over a file, with what is wrong collected. */
  private static final class Reading {
    private static final String QUEUES_ALLOWED =
        "a whole number from 1 to " + RoutingRules.MAX_QUEUES;

    private static final String SPREADS_ALLOWED =
        Stream.of(Spread.values()).map(Reading::name).collect(Collectors.joining(" or "));

    private final List<String> problems = new ArrayList<>();
    private int queues;
    private Spread spread;
    private final Map<String, Rule> applications;
    private final Map<String, Named> named = new LinkedHashMap<>();
    private Set<String> excluded;
    private JsonParser parser;

    /** An application's section; null for what it leaves to the standard. */
    private static final class Named {
      private Integer queues;
      private Spread spread;
    }

    Reading(RoutingRules beneath) {
      queues = beneath.standard().queues();
      spread = beneath.standard().spread();
      applications = new LinkedHashMap<>(beneath.applications());
      excluded = beneath.excluded();
    }

    RoutingRules rules(byte[] content) throws ConfigException {
      try {
        String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
        try (JsonParser opened = YAML.createParser(text)) {
          parser = opened;
          document();
        }
      } catch (CharacterCodingException e) {
        problems.add("not UTF-8");
      } catch (JacksonException e) {
        problems.add(
            "line "
                + Math.max(1, e.getLocation() == null ? 1 : e.getLocation().getLineNr())
                + ": not YAML: "
                + e.getOriginalMessage().lines().findFirst().orElse(""));
      }
      if (applications.size() + named.size() > MAX_NAMES || excluded.size() > MAX_NAMES) {
        problems.add("more than " + MAX_NAMES + " names: use patterns");
      }
      if (!problems.isEmpty()) {
        throw new ConfigException(problems);
      }
      named.forEach((name, section) ->
          applications.put(
              name,
              new Rule(
                  section.queues == null ? queues : section.queues,
                  section.spread == null ? spread : section.spread,
                  section.queues != null)));
      return new RoutingRules(new Rule(queues, spread, false), applications, excluded);
    }

    private void document() {
      JsonToken first = parser.nextToken();
      if (first == null || first == JsonToken.VALUE_NULL) {
        return;
      }
      if (first != JsonToken.START_OBJECT) {
        problems.add("line 1: holds no keys: write it as `key: value` lines");
        return;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String key = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (key) {
          case "queues-per-application" -> queues = queues(key, value, queues);
          case "spread" -> spread = spread(key, value, spread);
          case "applications" -> applications(key, value);
          case "exclude" -> exclude(key, value);
          default -> unknown(key, "queues-per-application, spread, applications, exclude");
        }
      }
      if (parser.nextToken() != null) {
        problem("a second document", "", "one document");
      }
    }

    private void applications(String key, JsonToken value) {
      if (value == JsonToken.VALUE_NULL) {
        return;
      }
      if (value != JsonToken.START_OBJECT) {
        problem(key, shown(), "sections by name of the application");
        return;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        if (parser.nextToken() == JsonToken.START_OBJECT) {
          named.put(name, section(key + "." + name));
        } else {
          problem(key + "." + name, shown(), "a section with queues, spread or both");
        }
      }
    }

    private Named section(String prefix) {
      Named section = new Named();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        String key = prefix + "." + name;
        JsonToken value = parser.nextToken();
        switch (name) {
          case "queues" -> section.queues = queues(key, value, 1);
          case "spread" -> section.spread = spread(key, value, Spread.SERIES);
          default -> unknown(key, "queues, spread");
        }
      }
      return section;
    }

    private void exclude(String key, JsonToken value) {
      if (value != JsonToken.START_ARRAY) {
        problem(key, shown(), "a list of names of applications");
        return;
      }
      excluded = new HashSet<>();
      for (JsonToken at = parser.nextToken(); at != JsonToken.END_ARRAY; at = parser.nextToken()) {
        String name = at.isScalarValue() ? parser.getString() : "";
        if (name.isEmpty() || at == JsonToken.VALUE_NULL) {
          problem(key, shown(), "names of applications");
        } else {
          excluded.add(name);
        }
      }
    }

    private int queues(String key, JsonToken value, int otherwise) {
      if (value == JsonToken.VALUE_NUMBER_INT
          && parser.getNumberType() == JsonParser.NumberType.INT) {
        int number = parser.getIntValue();
        if (number >= 1 && number <= RoutingRules.MAX_QUEUES) {
          return number;
        }
      }
      problem(key, shown(), QUEUES_ALLOWED);
      return otherwise;
    }

    private Spread spread(String key, JsonToken value, Spread otherwise) {
      if (value == JsonToken.VALUE_STRING) {
        for (Spread constant : Spread.values()) {
          if (name(constant).equals(parser.getString())) {
            return constant;
          }
        }
      }
      problem(key, shown(), SPREADS_ALLOWED);
      return otherwise;
    }

    private static String name(Spread spread) {
      return spread.name().toLowerCase(Locale.ROOT);
    }

    private void unknown(String key, String known) {
      int line = line();
      parser.skipChildren();
      problems.add("line " + line + ": " + key + ": no such key; known are " + known);
    }

    /** What stands here; of a list or section, which is skipped, only what it is. */
    private String shown() {
      JsonToken token = parser.currentToken();
      if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
        return token == JsonToken.START_OBJECT ? "a section" : "a list";
      }
      String text = token == null ? "" : String.valueOf(parser.getString());
      return text.length() <= 100 ? text : text.substring(0, 100) + "...";
    }

    private void problem(String key, String value, String allowed) {
      int line = line();
      problems.add("line " + line + ": " + key + " = " + value + ": not " + allowed);
      parser.skipChildren();
    }

    private int line() {
      return parser.currentTokenLocation().getLineNr();
    }
  }
}
