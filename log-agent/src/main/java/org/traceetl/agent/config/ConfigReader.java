package org.traceetl.agent.config;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.PatternSyntaxException;
import org.traceetl.agent.access.TlsFileException;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsMaterial;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.SignedRecord;

/**
 * Reads the configuration: defaults, over them the YAML file, over it the environment. A key {@code
 * otlp.grpc-port} is the variable {@code TRACE_ETL_AGENT_OTLP_GRPC_PORT}.
 */
public final class ConfigReader {
  /** Names of events, and keys of their attributes: as many as are looked up quickly. */
  private static final int MAX_EVENT_TEXTS = 256;

  private final Settings settings;
  private final AgentConfig config;

  private ConfigReader(Settings settings) throws ConfigException {
    this.settings = settings;
    this.config = build();
    List<String> problems = settings.problems();
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  /**
   * Reads and checks.
   *
   * @param yaml the file's content; empty for the defaults
   * @param environment the process's variables
   * @throws ConfigException with all that is wrong
   */
  public static ConfigReader read(String yaml, Map<String, String> environment)
      throws ConfigException {
    return new ConfigReader(new Settings(yaml, environment));
  }

  /** What was read. */
  public AgentConfig config() {
    return config;
  }

  /** Every key with the value in force; secrets show a mask, and are equal if they are. */
  public Map<String, Object> values() {
    return Collections.unmodifiableMap(settings.effective());
  }

  /** Every key with the value in force, a line each; secrets masked. */
  public String effective() {
    StringBuilder text = new StringBuilder();
    settings.effective().forEach((key, value) -> text.append(key + ": " + value + "\n"));
    return text.toString();
  }

  private AgentConfig build() {
    Path stateDirectory = path("state-directory", "log-agent-data");
    int drainTimeoutMillis = settings.integer("drain-timeout-millis", 10_000, 0, 600_000);
    AgentConfig read =
        new AgentConfig(
            stateDirectory,
            drainTimeoutMillis,
            otlp(OtlpConfig.defaults()),
            files(FilesConfig.defaults()),
            ring(RingConfig.defaults()),
            pipeline(PipelineConfig.defaults()),
            spool(SpoolConfig.defaults(stateDirectory)),
            routing(RoutingConfig.defaults()),
            watchedFile("filters.", FiltersFile::parse),
            rocketmq(RocketMqConfig.defaults()),
            telemetry(TelemetryConfig.defaults()));
    if (read.pipeline().maxBytesInFlight() / 2 < read.otlp().maxRequestBytes()) {
      settings.problem(
          "otlp.max-request-bytes",
          read.otlp().maxRequestBytes(),
          "more than half of pipeline.max-bytes-in-flight = "
              + read.pipeline().maxBytesInFlight()
              + ": raise pipeline.max-bytes-in-flight or lower otlp.max-request-bytes");
    }
    int clientBytes = read.otlp().limits().maxClientBytesInFlight();
    if (clientBytes != 0 && clientBytes < read.otlp().maxRequestBytes()) {
      settings.problem(
          "otlp.max-client-bytes-in-flight",
          clientBytes,
          "less than otlp.max-request-bytes = "
              + read.otlp().maxRequestBytes()
              + ": raise otlp.max-client-bytes-in-flight or lower otlp.max-request-bytes");
    }
    if (!read.otlp().enabled() && read.files().paths().isEmpty() && !read.ring().enabled()) {
      settings.problem(
          "otlp.enabled",
          false,
          "no source is enabled: enable otlp.enabled or ring.enabled, or list files in"
              + " files.paths");
    }
    return read;
  }

  private OtlpConfig otlp(OtlpConfig standard) {
    OtlpConfig read =
        new OtlpConfig(
            settings.flag("otlp.enabled", standard.enabled()),
            settings.text("otlp.host", standard.host()),
            settings.integer("otlp.grpc-port", standard.grpcPort(), 0, 65_535),
            settings.integer("otlp.http-port", standard.httpPort(), 0, 65_535),
            settings.integer(
                "otlp.max-request-bytes", standard.maxRequestBytes(), 1_024, 1024 * 1024 * 1024),
            tls("otlp.tls."),
            tokens("otlp.token"),
            otlpLimits(standard.limits()));
    clearTextTokens("otlp.", read.host(), read.hasClearTextTokens(), "senders");
    return read;
  }

  /** Tokens that anyone on the way can read admit everybody: that has to be allowed explicitly. */
  private void clearTextTokens(String section, String host, boolean sent, String clients) {
    boolean allowed = settings.flag(section + "allow-clear-text-token", false);
    if (sent && !allowed) {
      settings.problem(
          section + "host",
          host,
          clients
              + " would send their tokens over the network in clear text: set "
              + section
              + "tls.*, or bind to a loopback address; if something else encrypts, set "
              + section
              + "allow-clear-text-token = true");
    }
  }

  private OtlpLimits otlpLimits(OtlpLimits standard) {
    return new OtlpLimits(
        settings.integer("otlp.max-connections", standard.maxConnections(), 1, 65_536),
        settings.integer("otlp.max-client-connections", standard.maxClientConnections(), 1, 65_536),
        settings.integer(
            "otlp.max-client-bytes-in-flight",
            standard.maxClientBytesInFlight(),
            0,
            Integer.MAX_VALUE),
        settings.integer(
            "otlp.request-timeout-millis", standard.requestTimeoutMillis(), 100, 600_000));
  }

  private Optional<TlsFiles> tls(String section) {
    String certificate = settings.optional(section + "certificate-file");
    String privateKey = settings.optional(section + "private-key-file");
    String clientCa = settings.optional(section + "client-ca-file");
    if (certificate.isEmpty() && privateKey.isEmpty() && clientCa.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || privateKey.isEmpty()) {
      settings.problem(
          section + (certificate.isEmpty() ? "certificate-file" : "private-key-file"),
          "",
          "TLS needs a certificate and its private key: set both, or no key of " + section + "*");
      return Optional.empty();
    }
    TlsFiles files =
        new TlsFiles(
            asPath(section + "certificate-file", certificate),
            asPath(section + "private-key-file", privateKey),
            clientCa.isEmpty()
                ? Optional.empty()
                : Optional.of(asPath(section + "client-ca-file", clientCa)));
    try {
      TlsMaterial.of(files.read(), Clocks.SYSTEM.wall().instant());
    } catch (TlsFileException e) {
      String key = "client-ca-file";
      if (e.file().equals(files.certificate())) {
        key = "certificate-file";
      } else if (e.file().equals(files.privateKey())) {
        key = "private-key-file";
      }
      settings.problem(section + key, e.file(), e.problem());
    }
    return Optional.of(files);
  }

  private TokenSource tokens(String key) {
    // A variable that was left empty by mistake would admit everybody.
    String value = settings.secretOfVariable(key);
    String file = settings.optionalOfVariable(key + "-file");
    if (!value.isEmpty() && !file.isEmpty()) {
      settings.problem(key + "-file", file, key + " is set as well: set only one of the two");
      return TokenSource.none();
    }
    TokenSource tokens =
        new TokenSource(
            value, file.isEmpty() ? Optional.empty() : Optional.of(asPath(key + "-file", file)));
    try {
      tokens.read();
    } catch (IOException e) {
      settings.problem(file.isEmpty() ? key : key + "-file", file, e.getMessage());
    }
    return tokens;
  }

  private FilesConfig files(FilesConfig standard) {
    return new FilesConfig(
        globs("files.paths", standard.paths()),
        settings.integer("files.poll-interval-millis", standard.pollIntervalMillis(), 1, 60_000),
        settings.integer("files.max-line-bytes", standard.maxLineBytes(), 1_024, 4 * 1024 * 1024));
  }

  private RingConfig ring(RingConfig standard) {
    boolean enabled = settings.flag("ring.enabled", standard.enabled());
    Path directory = path("ring.directory", standard.directory().toString());
    String group = settings.optional("ring.group");
    RingConfig read =
        new RingConfig(
            enabled,
            directory,
            group.isBlank() ? Optional.empty() : Optional.of(group),
            settings.integer("ring.max-rings", standard.maxRings(), 1, 4_096),
            settings.longInteger("ring.max-bytes", standard.maxBytes(), 1L << 20, 1L << 40),
            settings.integer(
                "ring.max-dictionary-bytes",
                standard.maxDictionaryBytes(),
                64 * 1024,
                1024 * 1024 * 1024));
    if (!directory.isAbsolute()) {
      settings.problem(
          "ring.directory",
          directory,
          "not an absolute path: applications must find the same directory");
    }
    return read;
  }

  /** Globs, each of whose names is a pattern of its own: a group does not span directories. */
  private List<String> globs(String key, List<String> fallback) {
    List<String> globs = settings.texts(key, fallback);
    for (String glob : globs) {
      try {
        for (Path name : Path.of(glob)) {
          FileSystems.getDefault().getPathMatcher("glob:" + name);
        }
      } catch (PatternSyntaxException e) {
        settings.problem(key, glob, "not a glob: " + e.getPattern() + ": " + e.getDescription());
      } catch (InvalidPathException e) {
        settings.problem(key, glob, "not a path: " + e.getReason());
      }
    }
    return globs;
  }

  private PipelineConfig pipeline(PipelineConfig standard) {
    return new PipelineConfig(
        settings.integer(
            "pipeline.max-bytes-in-flight",
            standard.maxBytesInFlight(),
            16 * 1024 * 1024,
            Integer.MAX_VALUE),
        settings.integer("pipeline.batch-bytes", standard.batchBytes(), 1_024, 1024 * 1024),
        settings.integer("pipeline.batch-spans", standard.batchSpans(), 1, 16_384),
        settings.integer("pipeline.linger-millis", standard.lingerMillis(), 0, 10_000),
        settings.integer("pipeline.open-batches", standard.openBatches(), 1, 4_096),
        events(standard.events()));
  }

  private EventsConfig events(EventsConfig standard) {
    return new EventsConfig(
        texts("events.names", standard.names()), texts("events.attributes", standard.attributes()));
  }

  private List<String> texts(String key, List<String> standard) {
    List<String> texts = settings.texts(key, standard);
    if (texts.size() > MAX_EVENT_TEXTS) {
      settings.problem(key, texts.size() + " of them", "more than " + MAX_EVENT_TEXTS);
    }
    return texts;
  }

  private SpoolConfig spool(SpoolConfig standard) {
    String directory = settings.optional("spool.directory");
    return new SpoolConfig(
        directory.isBlank() ? standard.directory() : asPath("spool.directory", directory),
        settings.longInteger("spool.max-bytes", standard.maxBytes(), 8L << 20, 64L << 30),
        settings.integer("spool.max-batches", standard.maxBatches(), 1 << 14, 1 << 24),
        settings.integer("spool.max-age-hours", standard.maxAgeHours(), 1, 720),
        choice("spool.when-full", standard.whenFull()),
        choice("spool.flush", standard.flush()));
  }

  private RoutingConfig routing(RoutingConfig standard) {
    Rule fallback = standard.keys().standard();
    Rule rule =
        new Rule(
            settings.integer(
                "routing.queues-per-application", fallback.queues(), 1, RoutingRules.MAX_QUEUES),
            choice("routing.spread", fallback.spread()),
            false);
    Map<String, Rule> rules = new LinkedHashMap<>();
    settings
        .sections("routing.applications")
        .forEach((name, section) -> rules.put(name, rule(name, section, rule)));
    RoutingRules keys = new RoutingRules(rule, rules, Set.of());
    return new RoutingConfig(
        keys,
        watchedFile("routing.", content -> RoutingFile.parse(content, keys)),
        settings.flag("routing.hotspots", standard.hotspots()),
        settings.flag("routing.learnt-names", standard.learntNames()),
        topic("routing.hotspots-topic", standard.hotspotsTopic()),
        publicKeysFile("routing.public-keys-file"),
        settings.integer(
            "routing.reroute-after-seconds", standard.rerouteAfterSeconds(), 1, 86_400));
  }

  private Optional<Path> publicKeysFile(String key) {
    String file = settings.optional(key);
    if (file.isBlank()) {
      return Optional.empty();
    }
    Path path = asPath(key, file);
    try {
      SignedRecord.publicKeys(Files.readString(path));
    } catch (IOException | IllegalArgumentException e) {
      settings.problem(key, file, "does not contain Ed25519 public keys in PEM: " + e.getMessage());
    }
    return Optional.of(path);
  }

  /** Finds fault with a file's content, or none. */
  private interface Check {
    void check(byte[] content) throws ConfigException;
  }

  /** A file of rules, which has to be right at the start. */
  private Optional<WatchedFile> watchedFile(String section, Check check) {
    String key = section + "file";
    String path = settings.optional(key);
    int pollMillis = settings.integer(section + "file-poll-millis", 5_000, 10, 600_000);
    if (path.isBlank()) {
      return Optional.empty();
    }
    WatchedFile file = new WatchedFile(asPath(key, path), pollMillis);
    try {
      check.check(file.content());
    } catch (IOException e) {
      settings.problem(key, path, "cannot be read: " + e);
    } catch (ConfigException e) {
      e.problems().forEach(problem -> settings.problem(key, path, problem));
    }
    return Optional.of(file);
  }

  private Rule rule(String application, Map<?, ?> section, Rule standard) {
    String prefix = "routing.applications." + application + ".";
    int queues = standard.queues();
    Spread spread = standard.spread();
    boolean pinned = false;
    for (Map.Entry<?, ?> entry : section.entrySet()) {
      String key = prefix + entry.getKey();
      Object value = entry.getValue();
      switch (entry.getKey().toString()) {
        case "queues" -> {
          if (value instanceof Integer i && i >= 1 && i <= RoutingRules.MAX_QUEUES) {
            queues = i;
            pinned = true;
          } else {
            settings.problem(key, value, "not a whole number from 1 to " + RoutingRules.MAX_QUEUES);
          }
        }
        case "spread" -> spread = choice(key, String.valueOf(value), spread);
        default -> settings.problem(key, value, "no such key; known are queues, spread");
      }
    }
    return new Rule(queues, spread, pinned);
  }

  /** A constant of an enum by its name, in lower case with hyphens. */
  private <E extends Enum<E>> E choice(String key, E standard) {
    return choice(key, settings.text(key, name(standard)), standard);
  }

  private <E extends Enum<E>> E choice(String key, String value, E fallback) {
    List<E> constants = List.of(fallback.getDeclaringClass().getEnumConstants());
    for (E constant : constants) {
      if (name(constant).equals(value)) {
        return constant;
      }
    }
    List<String> names = constants.stream().map(ConfigReader::name).toList();
    settings.problem(key, value, "not " + String.join(" or ", names));
    return fallback;
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private RocketMqConfig rocketmq(RocketMqConfig standard) {
    String accessKey = secret("rocketmq.access-key");
    String secretKey = secret("rocketmq.secret-key");
    if (accessKey.isEmpty() != secretKey.isEmpty()) {
      String missing = accessKey.isEmpty() ? "rocketmq.access-key" : "rocketmq.secret-key";
      settings.problem(missing, "", "the other key is set: set both or neither");
    }
    RocketMqConfig read =
        new RocketMqConfig(
            settings.text("rocketmq.name-server", standard.nameServer()),
            topic("rocketmq.topic", standard.topic()),
            settings.text("rocketmq.producer-group", standard.producerGroup()),
            accessKey,
            secretKey,
            settings.integer(
                "rocketmq.send-timeout-millis", standard.sendTimeoutMillis(), 100, 60_000),
            settings.integer("rocketmq.retry-first-millis", standard.retryFirstMillis(), 1, 60_000),
            settings.integer("rocketmq.retry-max-millis", standard.retryMaxMillis(), 1, 600_000),
            settings.integer(
                "rocketmq.route-refresh-millis", standard.routeRefreshMillis(), 1_000, 600_000),
            rocketmqTls());
    if (!read.nameServer().matches("[^\\s:;]+:\\d+(;[^\\s:;]+:\\d+)*")) {
      settings.problem(
          "rocketmq.name-server", read.nameServer(), "not host:port, or several separated by ;");
    }
    if (!read.producerGroup().matches("[%|a-zA-Z0-9_-]{1,255}")) {
      settings.problem(
          "rocketmq.producer-group",
          read.producerGroup(),
          "not 1 to 255 letters, digits, and %, |, _ or -");
    }
    return read;
  }

  private Optional<RocketMqConfig.Tls> rocketmqTls() {
    boolean on = settings.flag("rocketmq.tls", false);
    String key = "rocketmq.tls-ca-file";
    String file = settings.optional(key);
    if (file.isEmpty()) {
      return on ? Optional.of(new RocketMqConfig.Tls(Optional.empty())) : Optional.empty();
    }
    if (!on) {
      settings.problem(key, file, "requires rocketmq.tls = true");
      return Optional.empty();
    }
    Path ca = asPath(key, file);
    try {
      TlsFiles.checkRoots(ca);
    } catch (TlsFileException e) {
      settings.problem(key, file, e.problem());
    }
    return Optional.of(new RocketMqConfig.Tls(Optional.of(ca)));
  }

  private String topic(String key, String fallback) {
    String topic = settings.text(key, fallback);
    if (!topic.matches("[%|a-zA-Z0-9_-]{1,127}")) {
      settings.problem(key, topic, "not 1 to 127 letters, digits, and %, |, _ or -");
    }
    return topic;
  }

  /** The secret itself, or the content of the file that the key with {@code -file} names. */
  private String secret(String key) {
    String value = settings.secret(key);
    String file = settings.optional(key + "-file");
    if (file.isEmpty()) {
      return value;
    }
    if (!value.isEmpty()) {
      settings.problem(key + "-file", file, key + " is set as well: set only one of the two");
      return value;
    }
    try {
      return Files.readString(Path.of(file)).strip();
    } catch (IOException | InvalidPathException e) {
      settings.problem(key + "-file", file, "cannot be read: " + e);
      return "";
    }
  }

  private TelemetryConfig telemetry(TelemetryConfig standard) {
    TelemetryConfig read =
        new TelemetryConfig(
            settings.flag("telemetry.enabled", standard.enabled()),
            settings.text("telemetry.host", standard.host()),
            settings.integer("telemetry.port", standard.port(), 0, 65_535),
            tls("telemetry.tls."),
            tokens("telemetry.token"));
    clearTextTokens("telemetry.", read.host(), read.hasClearTextTokens(), "clients");
    return read;
  }

  private Path path(String key, String fallback) {
    return asPath(key, settings.text(key, fallback));
  }

  private Path asPath(String key, String value) {
    try {
      return Path.of(value);
    } catch (InvalidPathException e) {
      settings.problem(key, value, "not a path: " + e.getReason());
      return Path.of("");
    }
  }
}
