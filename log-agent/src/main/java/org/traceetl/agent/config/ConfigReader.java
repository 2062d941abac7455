package org.traceetl.agent.config;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.PatternSyntaxException;
import org.traceetl.agent.access.TlsFileException;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsMaterial;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.FileReason;
import org.traceetl.proto.SignedRecord;

/**
 * Reads the configuration. A variable of the environment precedes a key of the YAML file, which
 * precedes the default. The variable of {@code otlp.grpc-port} is {@code
 * TRACE_ETL_AGENT_OTLP_GRPC_PORT}.
 */
public final class ConfigReader {
  /** Most names of events, and most keys of their attributes. */
  private static final int MAX_EVENT_TEXTS = 256;

  private static final int MIB = 1024 * 1024;

  private static final String API_SERVER = "https://host or https://host:port, without a path";

  private final Settings settings;
  private final AgentConfig config;

  private ConfigReader(Settings settings) {
    this.settings = settings;
    this.config = build();
    settings.check();
  }

  /**
   * Reads and checks the configuration.
   *
   * @param yaml the file's content; empty for the defaults
   * @param environment the process's variables
   * @throws ConfigException with all problems
   */
  public static ConfigReader read(String yaml, Map<String, String> environment) {
    return read("", yaml, environment);
  }

  /**
   * Reads and checks the configuration of a file.
   *
   * @param file the file's name, which problems give with the line; empty to leave both out
   */
  public static ConfigReader read(String file, String yaml, Map<String, String> environment) {
    return new ConfigReader(Settings.ofConfiguration(file, yaml, environment));
  }

  /** Returns the configuration. */
  public AgentConfig config() {
    return config;
  }

  /** Returns the values in force by key. Secrets are masked, but equal only if they are. */
  public Map<String, Object> values() {
    return Collections.unmodifiableMap(settings.effective());
  }

  /** Returns the values in force, a line for each key; secrets are masked. */
  public String effective() {
    StringBuilder text = new StringBuilder();
    settings.effective().forEach((key, value) -> text.append(key + ": " + value + "\n"));
    return text.toString();
  }

  private AgentConfig build() {
    Path stateDirectory = settings.path("state-directory", Path.of("log-agent-data"));
    int drainTimeoutMillis = settings.integer("drain-timeout-millis", 10_000, 0, 600_000);
    OtlpConfig otlp = otlp(settings.section("otlp"), OtlpConfig.defaults());
    AgentConfig read =
        new AgentConfig(
            stateDirectory,
            drainTimeoutMillis,
            otlp,
            files(settings.section("files"), FilesConfig.defaults()),
            ring(settings.section("ring"), RingConfig.defaults()),
            pipeline(settings.section("pipeline"), PipelineConfig.defaults()),
            spool(settings.section("spool"), SpoolConfig.defaults(stateDirectory)),
            routing(settings.section("routing"), RoutingConfig.defaults()),
            watchedFile(settings.section("filters"), FiltersFile::parse),
            DetailReader.read(settings.section("detail"), DetailConfig.defaults()),
            edges(settings.section("edges"), EdgesConfig.defaults()),
            rocketmq(settings.section("rocketmq"), PublishConfig.defaults()),
            telemetry(settings.section("telemetry"), TelemetryConfig.defaults()),
            ForwardReader.read(settings.section("forward"), ForwardConfig.defaults(), otlp),
            kubernetes(settings.section("kubernetes"), KubernetesConfig.defaults()));
    if (read.pipeline().maxBytesInFlight() / 2 < read.otlp().maxRequestBytes()) {
      settings.problem(
          "otlp.max-request-bytes",
          read.otlp().maxRequestBytes(),
          "must be at most half of pipeline.max-bytes-in-flight = "
              + read.pipeline().maxBytesInFlight()
              + ": raise pipeline.max-bytes-in-flight or lower otlp.max-request-bytes");
    }
    int clientBytes = read.otlp().limits().maxClientBytesInFlight();
    if (clientBytes != 0 && clientBytes < read.otlp().maxRequestBytes()) {
      settings.problem(
          "otlp.max-client-bytes-in-flight",
          clientBytes,
          "must be at least otlp.max-request-bytes = "
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

  private static EdgesConfig edges(Settings edges, EdgesConfig standard) {
    return new EdgesConfig(
        edges.choice("default", standard.standard()),
        ApplicationRules.read(edges, "edges", EdgesConfig.Edges.OFF, EdgesConfig.Rule::new));
  }

  private static OtlpConfig otlp(Settings otlp, OtlpConfig standard) {
    OtlpConfig read =
        new OtlpConfig(
            otlp.flag("enabled", standard.enabled()),
            otlp.text("host", standard.host()),
            otlp.integer("grpc-port", standard.grpcPort(), 0, 65_535),
            otlp.integer("http-port", standard.httpPort(), 0, 65_535),
            otlp.integer("max-request-bytes", standard.maxRequestBytes(), 1_024, 1024 * MIB),
            tls(otlp),
            tokens(otlp),
            otlpLimits(otlp, standard.limits()));
    checkClearTextTokens(otlp, read.host(), read.hasClearTextTokens(), "senders");
    return read;
  }

  /** Clear-text tokens can be read on the network and admit everyone, so they must be allowed. */
  private static void checkClearTextTokens(
      Settings section, String host, boolean sent, String clients) {
    boolean allowed = section.flag("allow-clear-text-token", false);
    if (sent && !allowed) {
      section.problem(
          "host",
          host,
          clients
              + " would send their tokens in clear text: configure tls.*, or bind to a loopback"
              + " address; if something else encrypts, set allow-clear-text-token = true");
    }
  }

  private static OtlpLimits otlpLimits(Settings otlp, OtlpLimits standard) {
    return new OtlpLimits(
        otlp.integer("max-connections", standard.maxConnections(), 1, 65_536),
        otlp.integer("max-client-connections", standard.maxClientConnections(), 1, 65_536),
        otlp.integer(
            "max-client-bytes-in-flight", standard.maxClientBytesInFlight(), 0, Integer.MAX_VALUE),
        otlp.integer("request-timeout-millis", standard.requestTimeoutMillis(), 100, 600_000));
  }

  private static Optional<TlsFiles> tls(Settings port) {
    Settings tls = port.section("tls");
    Optional<Path> certificate = tls.optionalPath("certificate-file");
    Optional<Path> privateKey = tls.optionalPath("private-key-file");
    Optional<Path> clientCa = tls.optionalPath("client-ca-file");
    if (certificate.isEmpty() && privateKey.isEmpty() && clientCa.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || privateKey.isEmpty()) {
      tls.problem(
          certificate.isEmpty() ? "certificate-file" : "private-key-file",
          "",
          "TLS requires a certificate and its private key: set both, or no key of tls.*");
      return Optional.empty();
    }
    TlsFiles files = new TlsFiles(certificate.get(), privateKey.get(), clientCa);
    try {
      TlsMaterial.of(files.read(), Clocks.SYSTEM.wall().instant());
    } catch (TlsFileException e) {
      String key = "client-ca-file";
      if (e.file().equals(files.certificate())) {
        key = "certificate-file";
      } else if (e.file().equals(files.privateKey())) {
        key = "private-key-file";
      }
      tls.problem(key, e.file(), e.problem());
    }
    return Optional.of(files);
  }

  private static TokenSource tokens(Settings port) {
    // An empty variable is probably a mistake, and would admit everyone.
    String value = port.secret("token");
    port.requireVariable("token", value.isBlank());
    Optional<Path> file = port.optionalPath("token-file");
    port.requireVariable("token-file", file.isEmpty());
    if (!value.isEmpty() && file.isPresent()) {
      port.problem("token-file", file.get(), "must be absent if token is configured");
      return TokenSource.none();
    }
    TokenSource tokens = new TokenSource(value, file);
    try {
      tokens.read();
    } catch (IOException e) {
      port.problem(
          file.isEmpty() ? "token" : "token-file",
          file.map(Path::toString).orElse(""),
          e.getMessage());
    }
    return tokens;
  }

  private static FilesConfig files(Settings files, FilesConfig standard) {
    return new FilesConfig(
        globs(files, "paths", standard.paths()),
        files.integer("poll-interval-millis", standard.pollIntervalMillis(), 1, 60_000),
        files.integer("max-line-bytes", standard.maxLineBytes(), 1_024, 4 * MIB));
  }

  /** Reads globs. Each name of a path is a pattern: a group does not span directories. */
  private static List<String> globs(Settings section, String key, List<String> fallback) {
    List<String> globs = section.texts(key, fallback);
    for (String glob : globs) {
      try {
        for (Path name : Path.of(glob)) {
          FileSystems.getDefault().getPathMatcher("glob:" + name);
        }
      } catch (PatternSyntaxException e) {
        section.problem(key, glob, "must be a glob: " + e.getPattern() + ": " + e.getDescription());
      } catch (InvalidPathException e) {
        section.problem(key, glob, "must be a path: " + e.getReason());
      }
    }
    return globs;
  }

  private static RingConfig ring(Settings ring, RingConfig standard) {
    boolean enabled = ring.flag("enabled", standard.enabled());
    Path directory = ring.path("directory", standard.directory());
    String group = ring.optional("group");
    if (!directory.isAbsolute()) {
      ring.problem(
          "directory",
          directory,
          "must be an absolute path, because applications use the same directory");
    }
    return new RingConfig(
        enabled,
        directory,
        group.isBlank() ? Optional.empty() : Optional.of(group),
        ring.integer("max-rings", standard.maxRings(), 1, 4_096),
        ring.longInteger("max-bytes", standard.maxBytes(), 1L << 20, 1L << 40),
        ring.integer("max-dictionary-bytes", standard.maxDictionaryBytes(), 64 * 1024, 1024 * MIB));
  }

  private PipelineConfig pipeline(Settings pipeline, PipelineConfig standard) {
    return new PipelineConfig(
        pipeline.integer(
            "max-bytes-in-flight", standard.maxBytesInFlight(), 16 * MIB, Integer.MAX_VALUE),
        pipeline.integer("batch-bytes", standard.batchBytes(), 1_024, MIB),
        pipeline.integer("batch-spans", standard.batchSpans(), 1, 16_384),
        pipeline.integer("linger-millis", standard.lingerMillis(), 0, 10_000),
        pipeline.integer("open-batches", standard.openBatches(), 1, 4_096),
        events(settings.section("events"), standard.events()));
  }

  private static CountedEventsConfig events(Settings events, CountedEventsConfig standard) {
    return new CountedEventsConfig(
        eventTexts(events, "names", standard.names()),
        eventTexts(events, "attributes", standard.attributes()));
  }

  private static List<String> eventTexts(Settings events, String key, List<String> standard) {
    List<String> texts = events.texts(key, standard);
    if (texts.size() > MAX_EVENT_TEXTS) {
      events.problem(key, texts.size() + " of them", "must be at most " + MAX_EVENT_TEXTS);
    }
    return texts;
  }

  private static SpoolConfig spool(Settings spool, SpoolConfig standard) {
    return new SpoolConfig(
        spool.optionalPath("directory").orElse(standard.directory()),
        spool.longInteger("max-bytes", standard.maxBytes(), 8L << 20, 64L << 30),
        spool.integer("max-batches", standard.maxBatches(), 1 << 14, 1 << 24),
        spool.integer("max-age-hours", standard.maxAgeHours(), 1, 720),
        spool.choice("when-full", standard.whenFull()),
        spool.choice("flush", standard.flush()));
  }

  private static RoutingConfig routing(Settings routing, RoutingConfig standard) {
    RoutingRules keys = RoutingFile.read(routing, standard.keys());
    return new RoutingConfig(
        keys,
        watchedFile(routing, content -> RoutingFile.parse(content, keys)),
        routing.flag("hotspots", standard.hotspots()),
        routing.flag("learnt-names", standard.learntNames()),
        topic(routing, "hotspots-topic", standard.hotspotsTopic()),
        publicKeysFile(routing, "public-keys-file"),
        routing.integer("reroute-after-seconds", standard.rerouteAfterSeconds(), 1, 86_400));
  }

  private static Optional<Path> publicKeysFile(Settings section, String key) {
    Optional<Path> file = section.optionalPath(key);
    if (file.isPresent()) {
      try {
        SignedRecord.publicKeys(Files.readString(file.get()));
      } catch (IOException | IllegalArgumentException e) {
        section.problem(
            key, file.get(), "must contain Ed25519 public keys in PEM: " + e.getMessage());
      }
    }
    return file;
  }

  /** Reads the place of a file of rules, whose content must be valid at the start. */
  private static Optional<WatchedFile> watchedFile(Settings section, Consumer<byte[]> check) {
    Optional<Path> path = section.optionalPath("file");
    int pollMillis = section.integer("file-poll-millis", 5_000, 10, 600_000);
    Optional<WatchedFile> file = path.map(each -> new WatchedFile(each, pollMillis));
    if (file.isPresent()) {
      try {
        check.accept(file.get().content(Disk.SYSTEM));
      } catch (IOException e) {
        section.problem("file", path.get(), FileReason.unreadable(e));
      } catch (ConfigException e) {
        e.problems().forEach(problem -> section.problem("file", path.get(), problem));
      }
    }
    return file;
  }

  private static PublishConfig rocketmq(Settings rocketmq, PublishConfig standard) {
    String accessKey = rocketmq.secretOrFile("access-key");
    String secretKey = rocketmq.secretOrFile("secret-key");
    if (accessKey.isEmpty() != secretKey.isEmpty()) {
      rocketmq.problem(
          accessKey.isEmpty() ? "access-key" : "secret-key",
          "",
          "the other key is configured: set both or neither");
    }
    String spans = topic(rocketmq, "topic", standard.topic());
    String edges = topic(rocketmq, "edges-topic", standard.edgesTopic());
    if (edges.equals(spans)) {
      rocketmq.problem("edges-topic", edges, "must differ from rocketmq.topic");
    }
    return new PublishConfig(
        rocketmq.text(
            "name-server",
            standard.nameServer(),
            "[^\\s:;]+:\\d+(;[^\\s:;]+:\\d+)*",
            "host:port, or several separated by ;"),
        spans,
        edges,
        rocketmq.text(
            "producer-group",
            standard.producerGroup(),
            "[%|a-zA-Z0-9_-]{1,255}",
            "1 to 255 letters, digits, and %, |, _ or -"),
        accessKey,
        secretKey,
        rocketmq.integer("send-timeout-millis", standard.sendTimeoutMillis(), 100, 60_000),
        rocketmq.integer("retry-first-millis", standard.retryFirstMillis(), 1, 60_000),
        rocketmq.integer("retry-max-millis", standard.retryMaxMillis(), 1, 600_000),
        rocketmq.integer("route-refresh-millis", standard.routeRefreshMillis(), 1_000, 600_000),
        rocketmqTls(rocketmq),
        rocketmq.choice("bundles", standard.bundles()),
        rocketmq.integer("linger-millis", standard.lingerMillis(), 0, 10_000));
  }

  private static Optional<PublishConfig.Tls> rocketmqTls(Settings rocketmq) {
    boolean enabled = rocketmq.flag("tls", false);
    String key = "tls-ca-file";
    Optional<Path> file = rocketmq.optionalPath(key);
    if (file.isPresent() && !enabled) {
      rocketmq.problem(key, file.get(), "requires rocketmq.tls = true");
    } else if (file.isPresent()) {
      try {
        TlsFiles.checkRoots(file.get());
      } catch (TlsFileException e) {
        rocketmq.problem(key, file.get(), e.problem());
      }
    }
    return enabled ? Optional.of(new PublishConfig.Tls(file)) : Optional.empty();
  }

  private static String topic(Settings section, String key, String fallback) {
    return section.text(
        key, fallback, "[%|a-zA-Z0-9_-]{1,127}", "1 to 127 letters, digits, and %, |, _ or -");
  }

  private static KubernetesConfig kubernetes(Settings kubernetes, KubernetesConfig standard) {
    KubernetesConfig read =
        new KubernetesConfig(
            kubernetes.flag("enabled", standard.enabled()),
            kubernetes.optional("node-name"),
            kubernetes.value("url", standard.url(), API_SERVER, ConfigReader::apiServer),
            kubernetes.path("token-file", standard.tokenFile()),
            kubernetes.path("ca-file", standard.caFile()));
    if (!read.enabled()) {
      return read;
    }
    // Selects pods, so it must not contain what separates selectors.
    if (!read.nodeName().matches("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")) {
      kubernetes.problem(
          "node-name",
          read.nodeName(),
          "must be the name of this agent's node, which the downward API gives as spec.nodeName");
    }
    try {
      TlsFiles.checkRoots(read.caFile());
    } catch (TlsFileException e) {
      kubernetes.problem("ca-file", read.caFile(), e.problem());
    }
    try {
      new TokenSource("", Optional.of(read.tokenFile())).read();
    } catch (IOException e) {
      kubernetes.problem("token-file", read.tokenFile(), e.getMessage());
    }
    return read;
  }

  private static URI apiServer(YamlNode url) {
    try {
      URI read = new URI(url.text());
      boolean isHost =
          read.getHost() != null
              && read.getPort() != 0
              && read.getPort() <= 65_535
              && read.getRawUserInfo() == null
              && read.getRawPath().matches("/?")
              && read.getRawQuery() == null
              && read.getRawFragment() == null;
      return "https".equals(read.getScheme()) && isHost
          ? URI.create("https://" + read.getRawAuthority())
          : null;
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private static TelemetryConfig telemetry(Settings telemetry, TelemetryConfig standard) {
    TelemetryConfig read =
        new TelemetryConfig(
            telemetry.flag("enabled", standard.enabled()),
            telemetry.text("host", standard.host()),
            telemetry.integer("port", standard.port(), 0, 65_535),
            tls(telemetry),
            tokens(telemetry));
    checkClearTextTokens(telemetry, read.host(), read.hasClearTextTokens(), "clients");
    return read;
  }
}
