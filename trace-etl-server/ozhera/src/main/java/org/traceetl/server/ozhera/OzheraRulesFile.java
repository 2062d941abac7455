package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.traceetl.common.ConfigException;
import org.traceetl.common.ReloadedFile;
import org.traceetl.server.ozhera.OzheraRules.Degradation;
import org.traceetl.server.ozhera.OzheraRules.Section;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Reads the file of rules. Everything in it may be left out:
 *
 * <pre>
 * slower-than-millis: {http: 1000, dubbo: 1000, mysql: 1000}
 * exclude:
 *   applications: [canary]
 *   span-names: [PING]
 *   http-server-methods: []
 *   threads: []
 *   urls: []
 *   user-agents: []
 *   statements: []
 * degrade: {server-ip: false, dubbo-method: false, sql: false, applications: []}
 * applications:
 *   my-shop:
 *     slower-than-millis: {http: 300}
 *     exclude: {urls: [/health]}
 * </pre>
 */
public final class OzheraRulesFile {
  /** The key of the configuration that contains the path of the file. */
  static final String KEY = "trace-etl.ozhera.rules-file";

  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_MILLIS = 86_400_000;
  private static final int MAX_NAMES = 10_000;
  private static final int MAX_PARTS = 1_000;
  private static final int MAX_PROBLEMS = 20;

  private static final String SECTIONS = "slower-than-millis, exclude, degrade, applications";
  private static final String SECTIONS_OF_APPLICATION = "slower-than-millis, exclude";
  private static final String THRESHOLDS = "http, dubbo, mysql";
  private static final String DEGRADATIONS = "server-ip, dubbo-method, sql, applications";
  private static final String LISTS =
      "span-names, http-server-methods, threads, urls, user-agents, statements";

  private OzheraRulesFile() {}

  /**
   * Reads the rules in a file.
   *
   * @throws IllegalArgumentException with all errors: file, line, key, value and what is allowed
   */
  public static OzheraRules read(Path file) {
    try {
      return parse(file, content(file));
    } catch (IOException e) {
      throw new IllegalArgumentException(unreadable(file, e), e);
    }
  }

  static String unreadable(Path file, IOException e) {
    return KEY + " = " + file + ": cannot be read: " + e;
  }

  /**
   * Returns the current content of the file.
   *
   * @throws IOException if it cannot be read, or is longer than 1 MiB
   */
  static byte[] content(Path file) throws IOException {
    return ReloadedFile.content(file, MAX_BYTES);
  }

  /**
   * Parses the content of the file.
   *
   * @throws ConfigException as {@link #read}
   */
  static OzheraRules parse(Path file, byte[] content) {
    return new Reading(file).rules(content);
  }

  /** A section that is being read; null for missing values. */
  private static final class Draft {
    private Integer http;
    private Integer dubbo;
    private Integer mysql;
    private Substrings spanNames;
    private Substrings httpServerMethods;
    private Substrings threads;
    private Substrings urls;
    private Substrings userAgents;
    private Substrings statements;

    Section section() {
      return new Section(
          http, dubbo, mysql, spanNames, httpServerMethods, threads, urls, userAgents, statements);
    }
  }

  /** One reading, which continues after an error to report all errors at once. */
  private static final class Reading {
    private final Path file;
    private final List<String> problems = new ArrayList<>();
    private final Draft ofAll = new Draft();
    private final Map<String, Section> ofApplications = new HashMap<>();
    private List<String> excluded = List.of();
    private boolean serverIp;
    private boolean dubboMethod;
    private boolean sql;
    private List<String> degraded = List.of();

    Reading(Path file) {
      this.file = file;
    }

    OzheraRules rules(byte[] content) {
      Node root = compose(content);
      if (root != null && !isNull(root)) {
        section(root, "", SECTIONS, this::section);
      }
      if (!problems.isEmpty()) {
        throw new ConfigException(problems);
      }
      return new OzheraRules(
          ofAll.section().over(Section.DEFAULTS),
          excluded,
          new Degradation(serverIp, dubboMethod, sql, Set.copyOf(degraded)),
          ofApplications);
    }

    private Node compose(byte[] content) {
      try {
        return new Yaml(new LoaderOptions()).compose(new StringReader(new String(content, UTF_8)));
      } catch (MarkedYAMLException e) {
        int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
        throw new ConfigException(KEY, file + ":" + line, "is not YAML: " + e.getProblem());
      } catch (YAMLException e) {
        throw new ConfigException(KEY, file, "is not YAML: " + e.getMessage());
      }
    }

    private boolean section(String key, Node value) {
      switch (key) {
        case "degrade" -> section(value, "degrade.", DEGRADATIONS, this::degradation);
        case "applications" -> applications(value);
        case "exclude" ->
            section(
                value,
                "exclude.",
                "applications, " + LISTS,
                (name, list) -> {
                  if (name.equals("applications")) {
                    excluded = texts("exclude.applications", list);
                    return true;
                  }
                  return list(ofAll, "exclude.", name, list);
                });
        default -> {
          return thresholds(ofAll, "", key, value);
        }
      }
      return true;
    }

    private boolean thresholds(Draft draft, String prefix, String key, Node value) {
      if (!key.equals("slower-than-millis")) {
        return false;
      }
      String within = prefix + key + ".";
      section(
          value,
          within,
          THRESHOLDS,
          (name, millis) -> {
            switch (name) {
              case "http" -> draft.http = millis(within + name, millis);
              case "dubbo" -> draft.dubbo = millis(within + name, millis);
              case "mysql" -> draft.mysql = millis(within + name, millis);
              default -> {
                return false;
              }
            }
            return true;
          });
      return true;
    }

    private boolean list(Draft draft, String within, String name, Node value) {
      String key = within + name;
      switch (name) {
        case "span-names" -> draft.spanNames = parts(key, value);
        case "http-server-methods" -> draft.httpServerMethods = parts(key, value);
        case "threads" -> draft.threads = parts(key, value);
        case "urls" -> draft.urls = parts(key, value);
        case "user-agents" -> draft.userAgents = parts(key, value);
        case "statements" -> draft.statements = parts(key, value);
        default -> {
          return false;
        }
      }
      return true;
    }

    private boolean degradation(String name, Node value) {
      switch (name) {
        case "server-ip" -> serverIp = flag("degrade." + name, value);
        case "dubbo-method" -> dubboMethod = flag("degrade." + name, value);
        case "sql" -> sql = flag("degrade." + name, value);
        case "applications" -> degraded = texts("degrade." + name, value);
        default -> {
          return false;
        }
      }
      return true;
    }

    private void applications(Node value) {
      section(
          value,
          "applications.",
          "names of applications",
          (application, node) -> {
            Draft draft = new Draft();
            String within = "applications." + application + ".";
            section(
                node,
                within,
                SECTIONS_OF_APPLICATION,
                (key, part) -> {
                  if (key.equals("exclude")) {
                    String lists = within + "exclude.";
                    section(part, lists, LISTS, (name, list) -> list(draft, lists, name, list));
                    return true;
                  }
                  return thresholds(draft, within, key, part);
                });
            if (ofApplications.put(application, draft.section()) == null
                && ofApplications.size() == MAX_NAMES + 1) {
              problem(node, "applications", "", "must be at most " + MAX_NAMES);
            }
            return true;
          });
    }

    /**
     * Reads a section key by key.
     *
     * @param known allowed keys, for the message
     * @param reader returns whether the key exists
     */
    private void section(Node node, String prefix, String known, BiPredicate<String, Node> reader) {
      if (isNull(node)) {
        return;
      }
      if (!(node instanceof MappingNode mapping)) {
        String name = prefix.isEmpty() ? "" : prefix.substring(0, prefix.length() - 1);
        problem(node, name, shown(node), "must be a section with " + known);
        return;
      }
      Set<String> seen = new HashSet<>();
      for (NodeTuple tuple : mapping.getValue()) {
        if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
          problem(tuple.getKeyNode(), prefix + "?", "", "must be one of " + known);
        } else if (key.getTag().equals(Tag.MERGE)) {
          problem(key, prefix + key.getValue(), "", "must not use YAML merge keys");
        } else if (!seen.add(key.getValue())) {
          problem(key, prefix + key.getValue(), "", "must not occur twice");
        } else if (!reader.test(key.getValue(), tuple.getValueNode())) {
          problem(
              key,
              prefix + key.getValue(),
              "",
              "is not a key of this section; the keys are " + known);
        }
      }
    }

    private Integer millis(String key, Node node) {
      if (node instanceof ScalarNode scalar && scalar.getValue().matches("\\d{1,9}")) {
        int millis = Integer.parseInt(scalar.getValue());
        if (millis <= MAX_MILLIS) {
          return millis;
        }
      }
      problem(node, key, shown(node), "must be whole milliseconds, 0 to " + MAX_MILLIS);
      return null;
    }

    private boolean flag(String key, Node node) {
      String text = shown(node);
      if (!text.equals("true") && !text.equals("false")) {
        problem(node, key, text, "must be true or false");
      }
      return text.equals("true");
    }

    private Substrings parts(String key, Node node) {
      return new Substrings(texts(key, node));
    }

    private List<String> texts(String key, Node node) {
      if (isNull(node)) {
        return List.of();
      }
      List<String> texts = new ArrayList<>();
      if (node instanceof SequenceNode sequence && sequence.getValue().size() <= MAX_PARTS) {
        for (Node item : sequence.getValue()) {
          if (item instanceof ScalarNode scalar) {
            texts.add(isNull(item) ? "" : scalar.getValue());
          } else {
            problem(item, key, shown(item), "must be a list of texts");
          }
        }
      } else {
        problem(node, key, shown(node), "must be a list of texts, at most " + MAX_PARTS);
      }
      return List.copyOf(texts);
    }

    private static boolean isNull(Node node) {
      return node.getTag().equals(Tag.NULL);
    }

    private static String shown(Node node) {
      return switch (node) {
        case ScalarNode scalar -> scalar.getValue();
        case SequenceNode ignored -> "a list";
        default -> "a section";
      };
    }

    private void problem(Node node, String key, String value, String rule) {
      if (problems.size() < MAX_PROBLEMS) {
        int line = node.getStartMark() == null ? 1 : node.getStartMark().getLine() + 1;
        problems.add(
            KEY
                + " = "
                + file
                + ":"
                + line
                + ": "
                + key
                + (value.isEmpty() ? "" : " = " + value)
                + ": "
                + rule);
      }
    }
  }
}
