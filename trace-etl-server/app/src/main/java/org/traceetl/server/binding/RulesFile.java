package org.traceetl.server.binding;

import com.google.common.primitives.Longs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.traceetl.common.ConfigException;
import org.traceetl.common.ReloadedFile;
import org.traceetl.proto.Demand;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.features.rules.RulesConfig;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.series.SlowThresholds;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.CollectionEndEvent;
import org.yaml.snakeyaml.events.CollectionStartEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.reader.UnicodeReader;

/**
 * A file of rules. Its keys are {@code revision}, and those of the configuration below {@code
 * defaults} and below each element of {@code applications}, without {@code trace-etl}. So the
 * records of the configuration read and check them. No variable is replaced.
 */
public final class RulesFile {
  static final String DEFAULTS = "defaults";

  /** The option that names the file of a preview. */
  private static final String OPTION = "--rules";

  /** What messages call the body of a request, and the file in it. */
  private static final String BODY = "body";

  private static final Path SENT_FILE = Path.of("rules.yaml");

  /** The key that names the file of rules that servers apply while they run. */
  private static final String KEY = "trace-etl.rules.file";

  private static final String APPLICATIONS = "applications";
  private static final String REVISION = "revision";

  /** A key of the defaults or of an application. */
  private static final Pattern PART_KEY =
      Pattern.compile("(" + DEFAULTS + "|" + APPLICATIONS + "\\[(\\d{1,9})])\\.(.+)");

  /** The end of a problem that has its line. */
  private static final Pattern LOCATED = Pattern.compile("(?s).*; .+:\\d+");

  private static final int MAX_TEXT = 1_024;
  private static final int MAX_TEXTS = 20_000;
  private static final int MAX_DEPTH = 10;

  /** Most problems in a message. */
  private static final int MAX_PROBLEMS = 100;

  /** What names the file, for messages. */
  private final String option;

  private final Path file;
  private final ServerConfig config;
  private final Set<String> problems = new LinkedHashSet<>();
  private final RulesPart defaults = new RulesPart(DEFAULTS);

  /** By position in the list. */
  private final Map<Integer, RulesPart> applications = new TreeMap<>();

  private RulesFile(String option, Path file, ServerConfig config) {
    this.option = option;
    this.file = file;
    this.config = config;
  }

  /**
   * Reads a file.
   *
   * @param config a configuration with which all rules must be valid
   * @throws ConfigurationRefused with all problems, each with its line, if the file is invalid
   */
  public static Rules read(Path file, ServerConfig config) {
    RulesFile rules = new RulesFile(OPTION, file, config);
    return rules.parse(rules.properties(rules.content()));
  }

  /**
   * Reads the content of a file that a caller of the API sent.
   *
   * @param config a configuration with which all rules must be valid
   * @throws ConfigurationRefused with all problems, each with its line, if the content is invalid
   */
  public static Rules parse(byte[] content, ServerConfig config) {
    RulesFile rules = new RulesFile(BODY, SENT_FILE, config);
    return rules.parse(rules.properties(content));
  }

  /**
   * Reads the content of a file whose rules servers apply while they run.
   *
   * @param config a configuration with which all rules must be valid
   * @throws ConfigurationRefused with all problems, each with its line, if the content is invalid,
   *     or more than servers can apply
   */
  public static Rules parseApplied(Path file, byte[] content, ServerConfig config) {
    return new RulesFile(KEY, file, config).parseApplied(content);
  }

  /**
   * Reads a file whose rules servers apply while they run.
   *
   * @param config a configuration with which all rules must be valid
   * @throws ConfigurationRefused as {@link #parseApplied}, or if the file cannot be read
   */
  public static Rules readApplied(Path file, ServerConfig config) {
    RulesFile rules = new RulesFile(OPTION, file, config);
    return rules.parseApplied(rules.content());
  }

  /**
   * Checks the file that the configuration names, if it names one.
   *
   * @throws ConfigurationRefused as {@link #parseApplied}, or if the file cannot be read
   */
  static void checkApplied(ServerConfig config) {
    Path file = config.feature(RulesConfig.class).file();
    if (file != null) {
      RulesFile rules = new RulesFile(KEY, file, config);
      rules.parseApplied(rules.content());
    }
  }

  private Rules parseApplied(byte[] bytes) {
    EnumerablePropertySource<?> content = properties(bytes);
    Rules rules = parse(content);
    Stream.concat(Stream.of(defaults), applications.values().stream())
        .forEach(part -> {
          part.checkPublished();
          addProblems(part);
        });
    if (!problems.isEmpty()) {
      throw refused();
    }
    try {
      rules.checkForms(config.rules());
      PublishedRules.record(rules, 0);
      int demanded = new SlowThresholds(config.documents(), rules).exceptions().size();
      ConfigException.check(
          demanded <= Demand.MAX_RULES,
          "applications",
          demanded + " of them and their thresholds",
          "must be at most " + Demand.MAX_RULES + ", which servers can demand of agents");
      long attributes =
          Stream.concat(
                  Stream.concat(config.series().dimensions().stream(), rules.dimensions().stream())
                      .filter(dimension -> dimension.from().readsSpan())
                      .map(Dimension::attribute),
                  Stream.concat(config.measures().stream(), rules.measures().stream())
                      .flatMap(measure -> measure.attributes().stream()))
              .distinct()
              .count();
      ConfigException.check(
          attributes <= Demand.MAX_KEYS,
          "series.dimensions",
          attributes + " attributes of spans, with those of the configuration",
          "must be at most " + Demand.MAX_KEYS + ", which servers can demand of agents");
    } catch (ConfigException e) {
      for (String problem : e.problems()) {
        String key = problem.replaceFirst("(?s)[ :].*", "");
        problems.add(
            problem
                + "; "
                + Refusals.line(List.of(ConfigurationPropertySource.from(content)), key, file));
      }
    }
    if (!problems.isEmpty()) {
      throw refused();
    }
    return rules;
  }

  private Rules parse(EnumerablePropertySource<?> content) {
    long revision = revision(content);
    for (String name : content.getPropertyNames()) {
      if (!name.equals(REVISION)) {
        add(content, name);
      }
    }
    if (applications.size() > Rules.MAX_APPLICATIONS) {
      problems.add(
          APPLICATIONS
              + " = "
              + applications.size()
              + " of them: must be at most "
              + Rules.MAX_APPLICATIONS
              + "; "
              + List.copyOf(applications.values()).get(Rules.MAX_APPLICATIONS).firstLine());
      throw refused();
    }
    defaults.bind();
    EffectiveRules ofAll = check(defaults, config.rules());
    addProblems(defaults);
    // Over invalid defaults, each application would repeat their problems.
    EffectiveRules below = ofAll == null ? config.rules() : ofAll;
    List<Rules.OfApplications> rules = new ArrayList<>();
    for (RulesPart part : applications.values()) {
      part.bind();
      check(part, below);
      rules.add(part.ofApplications());
      addProblems(part);
    }
    if (!problems.isEmpty()) {
      throw refused();
    }
    return new Rules(revision, defaults.keys(), rules);
  }

  /** Returns the rules of a part over others; null if they are refused. */
  private EffectiveRules check(RulesPart part, EffectiveRules below) {
    EffectiveRules rules = part.of(() -> config.with(part.keys().over(below)).rules());
    if (rules == null) {
      // The first wrong key hid those after it.
      part.keys().groups().forEach(keys -> part.of(() -> config.with(keys.over(below))));
    }
    return rules;
  }

  private void addProblems(RulesPart part) {
    for (String problem : part.problems()) {
      problems.add(
          LOCATED.matcher(problem).matches() || part.firstLine() == null
              ? problem
              : problem + "; " + part.firstLine());
    }
  }

  private long revision(PropertySource<?> content) {
    Object value = content.getProperty(REVISION);
    Long revision = Longs.tryParse(String.valueOf(value));
    if (revision == null || revision < 1) {
      problems.add(
          REVISION
              + (value == null ? "" : " = " + value)
              + ": must be a whole number of 1 or more; "
              + line(content, REVISION));
      return 1;
    }
    return revision;
  }

  private void add(PropertySource<?> content, String name) {
    Matcher key = PART_KEY.matcher(name);
    if (key.matches()) {
      RulesPart part =
          key.group(2) == null
              ? defaults
              : applications.computeIfAbsent(
                  Integer.valueOf(key.group(2)),
                  number -> new RulesPart(APPLICATIONS + "[" + number + "]"));
      part.add(key.group(3), content.getProperty(name), origin(content, name));
    } else if (name.equals(DEFAULTS) || name.equals(APPLICATIONS)) {
      // An empty section or list has the value "".
      if (!String.valueOf(content.getProperty(name)).isEmpty()) {
        problems.add(
            name
                + ": must be "
                + (name.equals(DEFAULTS) ? "a section of keys" : "a list")
                + "; "
                + line(content, name));
      }
    } else if (name.matches(APPLICATIONS + "\\[\\d+]")) {
      problems.add(name + ": must be a section of keys; " + line(content, name));
    } else {
      problems.add(name + ": is not a key of rules; " + line(content, name));
    }
  }

  private String line(PropertySource<?> content, String name) {
    return Optional.ofNullable(origin(content, name))
        .flatMap(ConfigFile::line)
        .orElse(file.toString());
  }

  private static Origin origin(PropertySource<?> content, String name) {
    return OriginLookup.getOrigin(content, name);
  }

  /** Returns the current content of the file. */
  private byte[] content() {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw refused("must be a readable file");
    }
    try {
      if (Files.size(file) > RulesConfig.MAX_FILE_BYTES) {
        throw refused("must be at most 1 MiB");
      }
      return ReloadedFile.content(file, RulesConfig.MAX_FILE_BYTES);
    } catch (IOException e) {
      throw refused("cannot be read: " + e.getMessage());
    }
  }

  /** Returns the keys in the content of the file. */
  private EnumerablePropertySource<?> properties(byte[] bytes) {
    String name = file.toString();
    if (!name.endsWith(".yaml") && !name.endsWith(".yml")) {
      throw refused("must end in .yaml or .yml");
    }
    refuseBombs(bytes);
    List<PropertySource<?>> documents = ConfigFile.load(option, file, bytes);
    if (documents.size() > 1) {
      throw refused("has " + documents.size() + " YAML documents; only one is allowed");
    }
    return documents.isEmpty()
        ? new MapPropertySource(name, Map.of())
        : (EnumerablePropertySource<?>) documents.getFirst();
  }

  /**
   * Refuses what would make a small file need much memory or time: aliases, of which nested ones
   * have more keys than fit into memory; long texts, as each key contains those above it; and many
   * of both.
   */
  private void refuseBombs(byte[] bytes) {
    int texts = 0;
    int depth = 0;
    try {
      Reader reader = new UnicodeReader(new ByteArrayInputStream(bytes));
      for (Event event : new Yaml(new LoaderOptions()).parse(reader)) {
        if (event instanceof AliasEvent) {
          throw refused(event, "must have no aliases (*name)");
        }
        if (event instanceof CollectionStartEvent && ++depth > MAX_DEPTH) {
          throw refused(event, "must have at most " + MAX_DEPTH + " levels");
        }
        if (event instanceof CollectionEndEvent) {
          depth--;
        }
        if (event instanceof ScalarEvent text) {
          if (text.getValue().length() > MAX_TEXT) {
            throw refused(
                event, "must have keys and values of at most " + MAX_TEXT + " characters");
          }
          if (++texts > MAX_TEXTS) {
            throw refused(event, "must have at most " + MAX_TEXTS + " keys and values");
          }
        }
      }
    } catch (YAMLException e) {
      // Reading the file reports it, with its line.
    }
  }

  private ConfigurationRefused refused(Event event, String rule) {
    int line = event.getStartMark().getLine() + 1;
    return ConfigFile.refused(option, file + ":" + line, rule, null);
  }

  private ConfigurationRefused refused(String rule) {
    return ConfigFile.refused(option, file.toString(), rule, null);
  }

  private ConfigurationRefused refused() {
    List<String> first = new ArrayList<>(problems.stream().limit(MAX_PROBLEMS).toList());
    if (problems.size() > MAX_PROBLEMS) {
      first.add("and " + (problems.size() - MAX_PROBLEMS) + " more problems");
    }
    return new ConfigurationRefused(String.join("\n", first), null);
  }
}
