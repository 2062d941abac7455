package org.traceetl.server.binding;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.ReloadedFile;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.component.Component;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.http.AccessPolicy;
import org.traceetl.server.log.Printable;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.series.Tenants;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.reader.UnicodeReader;

/**
 * The file of tenants. A changed file takes effect some seconds later; if it is invalid, the
 * previous tenants stay in force and the log reports it. Thread-safe.
 */
public final class AccessFile implements Component {
  private static final Logger log = LoggerFactory.getLogger(AccessFile.class);

  static final String KEY = "trace-etl.web.access-file";
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_TENANTS = 1_000;
  private static final int MAX_TEXTS = 1_000;

  /**
   * Patterns of all tenants together. Someone may be in all of them, and a search in an index has
   * at most 1,024 clauses.
   */
  private static final int MAX_PATTERNS = 1_000;

  private static final int MAX_TEXT = 1_024;

  /** Most problems in a message. */
  private static final int MAX_PROBLEMS = 100;

  private static final int MAX_SHOWN = 100;

  private static final int MAX_LIMIT = 10_000_000;
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final String TENANTS = "tenants";
  private static final String NAME = "name";
  private static final String APPLICATIONS = "applications";
  private static final String USERS = "users";
  private static final String GROUPS = "groups";
  private static final String TOKENS = "tokens-sha256";
  private static final String MAX_SERIES = "max-series-per-queue";
  private static final String MAX_DOCUMENTS = "max-documents-per-queue";
  private static final Set<String> KEYS =
      Set.of(NAME, APPLICATIONS, USERS, GROUPS, TOKENS, MAX_SERIES, MAX_DOCUMENTS);
  private static final Pattern TENANT_NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private final WebConfig.SignIn signIn;
  private final LogThrottle throttle;
  private final Consumer<AccessPolicy> listener;

  /** Confined to the thread. */
  private final ReloadedFile<AccessPolicy> content;

  private final SteppedThread thread;
  private volatile AccessPolicy policy;

  /**
   * Reads the file.
   *
   * @param signIn how people sign in, for warnings
   * @param listener receives the policy now, and each change of it
   * @throws ConfigException if the file is invalid
   */
  public AccessFile(
      Path file, WebConfig.SignIn signIn, Clocks clocks, Consumer<AccessPolicy> listener) {
    this.signIn = signIn;
    this.listener = listener;
    throttle = new LogThrottle(clocks.wall());
    content = read(file);
    take();
    thread =
        SteppedThread.virtual(
            clocks, "trace-access-file", this::look, new LogThrottle(clocks.wall()));
  }

  @Override
  public void start(Endpoint here) {
    thread.start();
  }

  @Override
  public void close() {
    thread.close();
  }

  /**
   * @throws ConfigException if the file is invalid
   */
  static ReloadedFile<AccessPolicy> read(Path file) {
    try {
      return new ReloadedFile<>(
          KEY + " = " + file,
          () -> ReloadedFile.content(file, MAX_BYTES),
          content -> new Reading(file).policy(content),
          policy -> log.info("Read {} tenants from {}", policy.tenants().size(), file));
    } catch (IOException e) {
      if (e.getCause() instanceof ConfigException invalid) {
        throw new ConfigException(
            invalid.problems().stream().map(problem -> KEY + " = " + problem).toList());
      }
      throw new ConfigException(KEY, file, "must be a readable file: " + e.getMessage());
    }
  }

  /** Returns the policy in force. */
  public AccessPolicy policy() {
    return policy;
  }

  private void take() {
    policy = content.value();
    List<String> warnings = warnings(policy, signIn);
    if (!warnings.isEmpty()) {
      log.warn(
          "{}{}",
          warnings.getFirst(),
          warnings.size() == 1
              ? ""
              : ", and " + (warnings.size() - 1) + " more tenants; --check-config lists them");
    }
    listener.accept(policy);
  }

  private long look() {
    if (content.look(false)) {
      take();
    }
    if (!content.problem().isEmpty() && throttle.permits()) {
      log.warn("{}; the previous tenants stay in force", content.problem());
    }
    return LOOK_NANOS;
  }

  /**
   * Returns what is strange in the tenants of a configuration, although it is valid.
   *
   * @throws ConfigException if the file is invalid
   */
  public static List<String> warnings(WebConfig web) {
    return web.accessFile() == null
        ? List.of()
        : warnings(read(web.accessFile()).value(), web.signIn());
  }

  private static List<String> warnings(AccessPolicy policy, WebConfig.SignIn signIn) {
    List<String> warnings = new ArrayList<>();
    for (AccessPolicy.Tenant tenant : policy.tenants()) {
      boolean people = !tenant.users().isEmpty() || !tenant.groups().isEmpty();
      if (!people && tenant.tokens().isEmpty()) {
        warnings.add(warning(tenant, "has no members: no users, no groups and no " + TOKENS));
      } else if (people && signIn == WebConfig.SignIn.NONE) {
        warnings.add(
            warning(tenant, "has users or groups, who need trace-etl.web.sign-in = basic or oidc"));
      } else if (!tenant.groups().isEmpty() && signIn == WebConfig.SignIn.BASIC) {
        warnings.add(warning(tenant, "has groups, which need trace-etl.web.sign-in = oidc"));
      }
    }
    return warnings;
  }

  private static String warning(AccessPolicy.Tenant tenant, String what) {
    return KEY + ": tenant " + tenant.name() + " " + what;
  }

  /** One reading, which continues after a problem to report all at once. */
  private static final class Reading {
    private final Path file;

    /** Problems, each after its key. */
    private final List<Map.Entry<String, String>> problems = new ArrayList<>();

    Reading(Path file) {
      this.file = file;
    }

    /**
     * @throws ConfigException with all problems, each after file and line
     */
    AccessPolicy policy(byte[] yaml) {
      List<AccessPolicy.Tenant> tenants = tenants(yaml(yaml));
      if (!problems.isEmpty()) {
        Iterable<ConfigurationPropertySource> lines = lines(yaml);
        throw new ConfigException(
            problems.stream()
                .map(problem ->
                    Refusals.line(lines, problem.getKey(), file) + ": " + problem.getValue())
                .toList());
      }
      return new AccessPolicy(tenants);
    }

    private Iterable<ConfigurationPropertySource> lines(byte[] yaml) {
      try {
        return ConfigurationPropertySources.from(ConfigFile.loadYaml(KEY, file, yaml));
      } catch (ConfigurationRefused e) {
        // It knows no keys but texts.
        return List.of();
      }
    }

    private Object yaml(byte[] yaml) {
      var options = new LoaderOptions();
      options.setAllowDuplicateKeys(false);
      options.setMaxAliasesForCollections(0);
      try {
        return new Yaml(new SafeConstructor(options))
            .load(new UnicodeReader(new ByteArrayInputStream(yaml)));
      } catch (MarkedYAMLException e) {
        int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
        throw new ConfigException(List.of(file + ":" + line + ": must be YAML: " + e.getProblem()));
      } catch (YAMLException e) {
        throw new ConfigException(List.of(file + ": must be YAML: " + e.getMessage()));
      }
    }

    private List<AccessPolicy.Tenant> tenants(Object read) {
      List<AccessPolicy.Tenant> tenants = new ArrayList<>();
      if (!(read instanceof Map<?, ?> top
          && top.keySet().equals(Set.of(TENANTS))
          && top.get(TENANTS) instanceof List<?> listed)) {
        check(false, TENANTS, null, "must be a list, and the only key");
        return tenants;
      }
      check(listed.size() <= MAX_TENANTS, TENANTS, listed.size(), "must be at most " + MAX_TENANTS);
      Set<String> names = new HashSet<>();
      int patterns = 0;
      for (int i = 0; i < listed.size(); i++) {
        String at = TENANTS + "[" + i + "]";
        if (listed.get(i) instanceof Map<?, ?> keys && !keys.isEmpty()) {
          AccessPolicy.Tenant tenant = tenant(at + ".", keys);
          check(
              tenant.name().isEmpty() || names.add(tenant.name()),
              at + "." + NAME,
              tenant.name(),
              "must be unique");
          tenants.add(tenant);
          patterns += tenant.applications().size();
        } else {
          check(false, at, null, "must have keys, such as " + NAME);
        }
      }
      check(
          patterns <= MAX_PATTERNS,
          TENANTS + "." + APPLICATIONS,
          patterns,
          "must be at most " + MAX_PATTERNS + " patterns of all tenants");
      return tenants;
    }

    private AccessPolicy.Tenant tenant(String at, Map<?, ?> keys) {
      for (Object key : keys.keySet()) {
        check(
            key != null && KEYS.contains(key), at + key, null, "is unknown; known are " + sorted());
      }
      String name = keys.get(NAME) instanceof String text ? text : "";
      check(
          TENANT_NAME.matcher(name).matches(),
          at + NAME,
          keys.get(NAME),
          "must be 1 to 64 letters, digits and . _ -");
      Object patterns = keys.get(APPLICATIONS);
      check(
          patterns != null && !patterns.equals(List.of()),
          at + APPLICATIONS,
          null,
          "must have a pattern at least");
      Set<String> applications = texts(at + APPLICATIONS, patterns);
      int maxSeries = limit(at + MAX_SERIES, keys.get(MAX_SERIES));
      int maxDocuments = limit(at + MAX_DOCUMENTS, keys.get(MAX_DOCUMENTS));
      check(
          !applications.contains("*") || Math.min(maxSeries, maxDocuments) == Integer.MAX_VALUE,
          at + (maxSeries == Integer.MAX_VALUE ? MAX_DOCUMENTS : MAX_SERIES),
          null,
          "must be absent with the pattern *: no application belongs to this tenant");
      Set<String> tokens = texts(at + TOKENS, keys.get(TOKENS));
      for (String token : tokens) {
        if (!SHA256.matcher(token).matches()) {
          // Without the value, which may be the token itself.
          check(
              false,
              at + TOKENS + "[" + ((List<?>) keys.get(TOKENS)).indexOf(token) + "]",
              null,
              "must be 64 lower-case hexadecimal digits, as `sha256sum` prints");
        }
      }
      return new AccessPolicy.Tenant(
          new Tenants.Tenant(name, List.copyOf(applications), maxSeries, maxDocuments),
          texts(at + USERS, keys.get(USERS)),
          texts(at + GROUPS, keys.get(GROUPS)),
          tokens);
    }

    private int limit(String at, Object value) {
      if (value instanceof Integer number && number >= 0 && number <= MAX_LIMIT) {
        return number;
      }
      check(value == null, at, value, "must be a number from 0 to " + MAX_LIMIT);
      return Integer.MAX_VALUE;
    }

    /** Returns the texts of a list; none if it is absent. */
    private Set<String> texts(String at, Object list) {
      Set<String> texts = new LinkedHashSet<>();
      if (list instanceof List<?> several && several.size() <= MAX_TEXTS) {
        for (int i = 0; i < several.size(); i++) {
          if (several.get(i) instanceof String one && !one.isBlank() && one.length() <= MAX_TEXT) {
            texts.add(one);
          } else {
            check(
                false,
                at + "[" + i + "]",
                null,
                "must be a text of 1 to "
                    + MAX_TEXT
                    + " characters; quote numbers, and a pattern that"
                    + " begins with *");
          }
        }
      } else {
        check(list == null, at, null, "must be a list of at most " + MAX_TEXTS);
      }
      return texts;
    }

    /** Adds a problem unless {@code holds}; {@code rule} says what is allowed. */
    private void check(boolean holds, String key, Object value, String rule) {
      if (holds || problems.size() > MAX_PROBLEMS) {
        return;
      }
      problems.add(
          problems.size() == MAX_PROBLEMS
              ? Map.entry(TENANTS, "further problems are not shown")
              : Map.entry(
                  key,
                  key
                      + (value == null
                          ? ""
                          : " = " + Printable.of(String.valueOf(value), MAX_SHOWN))
                      + ": "
                      + rule));
    }

    private static String sorted() {
      return String.join(", ", KEYS.stream().sorted().toList());
    }
  }
}
