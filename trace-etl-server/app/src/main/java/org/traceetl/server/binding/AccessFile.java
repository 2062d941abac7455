package org.traceetl.server.binding;

import static org.traceetl.common.ConfigException.check;

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
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.ReloadedFile;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.component.Component;
import org.traceetl.server.http.AccessPolicy;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.series.Tenants;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
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

  private final LogThrottle throttle;
  private final Consumer<AccessPolicy> listener;

  /** Confined to the thread. */
  private final ReloadedFile<AccessPolicy> content;

  private final SteppedThread thread;
  private volatile AccessPolicy policy;

  /**
   * Reads the file.
   *
   * @param listener receives the policy now, and each change of it
   * @throws ConfigException if the file is invalid
   */
  public AccessFile(Path file, Clocks clocks, Consumer<AccessPolicy> listener) {
    this.listener = listener;
    throttle = new LogThrottle(clocks.wall());
    content = read(file);
    policy = content.value();
    listener.accept(policy);
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
          AccessFile::parse,
          policy -> log.info("Read {} tenants from {}", policy.tenants().size(), file));
    } catch (IOException e) {
      if (e.getCause() instanceof ConfigException invalid) {
        throw new ConfigException(KEY, file, String.join("; ", invalid.problems()));
      }
      throw new ConfigException(KEY, file, "must be a readable file: " + e.getMessage());
    }
  }

  /** Returns the policy in force. */
  public AccessPolicy policy() {
    return policy;
  }

  private long look() {
    if (content.look(false)) {
      policy = content.value();
      listener.accept(policy);
    }
    if (!content.problem().isEmpty() && throttle.permits()) {
      log.warn("{}; the previous tenants stay in force", content.problem());
    }
    return LOOK_NANOS;
  }

  /**
   * @throws ConfigException with the first problem
   */
  static AccessPolicy parse(byte[] yaml) {
    var options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    options.setMaxAliasesForCollections(0);
    Object read;
    try {
      read =
          new Yaml(new SafeConstructor(options))
              .load(new UnicodeReader(new ByteArrayInputStream(yaml)));
    } catch (YAMLException e) {
      throw new ConfigException("file", null, "must be YAML: " + e.getMessage());
    }
    check(
        read instanceof Map<?, ?> top
            && top.keySet().equals(Set.of(TENANTS))
            && top.get(TENANTS) instanceof List,
        TENANTS,
        null,
        "must be a list, and the only key");
    List<?> listed = (List<?>) ((Map<?, ?>) read).get(TENANTS);
    check(listed.size() <= MAX_TENANTS, TENANTS, listed.size(), "must be at most " + MAX_TENANTS);
    List<AccessPolicy.Tenant> tenants = new ArrayList<>();
    Set<String> names = new HashSet<>();
    int patterns = 0;
    for (int i = 0; i < listed.size(); i++) {
      String at = TENANTS + "[" + i + "]";
      check(listed.get(i) instanceof Map, at, null, "must have keys, such as " + NAME);
      AccessPolicy.Tenant tenant = tenant(at + ".", (Map<?, ?>) listed.get(i));
      check(names.add(tenant.name()), at + "." + NAME, tenant.name(), "must be unique");
      tenants.add(tenant);
      patterns += tenant.applications().size();
    }
    check(
        patterns <= MAX_PATTERNS,
        TENANTS + "." + APPLICATIONS,
        patterns,
        "must be at most " + MAX_PATTERNS + " patterns of all tenants");
    return new AccessPolicy(tenants);
  }

  private static AccessPolicy.Tenant tenant(String at, Map<?, ?> keys) {
    for (Object key : keys.keySet()) {
      check(key != null && KEYS.contains(key), at + key, null, "is unknown; known are " + sorted());
    }
    check(
        keys.get(NAME) instanceof String name && TENANT_NAME.matcher(name).matches(),
        at + NAME,
        keys.get(NAME),
        "must be 1 to 64 letters, digits and . _ -");
    Set<String> applications = texts(at + APPLICATIONS, keys.get(APPLICATIONS));
    check(!applications.isEmpty(), at + APPLICATIONS, null, "must have a pattern at least");
    int maxSeries = limit(at + MAX_SERIES, keys.get(MAX_SERIES));
    int maxDocuments = limit(at + MAX_DOCUMENTS, keys.get(MAX_DOCUMENTS));
    check(
        !applications.contains("*") || Math.min(maxSeries, maxDocuments) == Integer.MAX_VALUE,
        at + (maxSeries == Integer.MAX_VALUE ? MAX_DOCUMENTS : MAX_SERIES),
        null,
        "must be absent with the pattern *: no application belongs to this tenant");
    Set<String> tokens = texts(at + TOKENS, keys.get(TOKENS));
    for (String token : tokens) {
      // Without the value, which may be the token itself.
      check(
          SHA256.matcher(token).matches(),
          at + TOKENS,
          null,
          "must be 64 lower-case hexadecimal digits each, as `sha256sum` prints");
    }
    return new AccessPolicy.Tenant(
        new Tenants.Tenant(
            (String) keys.get(NAME), List.copyOf(applications), maxSeries, maxDocuments),
        texts(at + USERS, keys.get(USERS)),
        texts(at + GROUPS, keys.get(GROUPS)),
        tokens);
  }

  private static int limit(String at, Object value) {
    if (value == null) {
      return Integer.MAX_VALUE;
    }
    check(
        value instanceof Integer number && number >= 0 && number <= MAX_LIMIT,
        at,
        value,
        "must be a number from 0 to " + MAX_LIMIT);
    return (Integer) value;
  }

  /** Returns the texts of a list; none if it is absent. */
  private static Set<String> texts(String at, Object list) {
    Set<String> texts = new LinkedHashSet<>();
    if (list != null) {
      check(
          list instanceof List<?> several && several.size() <= MAX_TEXTS,
          at,
          null,
          "must be a list of at most " + MAX_TEXTS);
      for (Object text : (List<?>) list) {
        check(
            text instanceof String one && !one.isBlank() && one.length() <= MAX_TEXT,
            at,
            null,
            "must be texts of 1 to "
                + MAX_TEXT
                + " characters; quote numbers, and a pattern that"
                + " begins with *");
        texts.add((String) text);
      }
    }
    return texts;
  }

  private static String sorted() {
    return String.join(", ", KEYS.stream().sorted().toList());
  }
}
