package org.traceetl.standalone;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.StandardEnvironment;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.config.CountedEventsConfig;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.config.ForwardConfig;
import org.traceetl.agent.config.KubernetesConfig;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.common.Secret;
import org.traceetl.server.binding.Features;
import org.traceetl.server.binding.KeysInForce;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.http.FeatureType;

/**
 * Compares the tables of keys in the documents with the configuration records: names and types of
 * their components, defaults, and the {@code @param} texts of their Javadoc. With {@code
 * -Dtraceetl.docs.write=true} the test writes the tables into the documents instead.
 */
final class ConfigurationTablesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern TABLE =
      Pattern.compile("(<!-- keys (.*?) -->\n).*?(<!-- end -->)", Pattern.DOTALL);
  private static final Pattern CODE =
      Pattern.compile("\\{@code\\s+((?:[^{}]|\\{[^{}]*\\})*)\\}", Pattern.DOTALL);

  /** Records of the agent whose components are the keys of a section. */
  private static final Map<String, List<Class<?>>> AGENT =
      Map.ofEntries(
          Map.entry("", List.of(AgentConfig.class)),
          Map.entry("otlp.", List.of(OtlpConfig.class, OtlpLimits.class, TokenSource.class)),
          Map.entry("otlp.tls.", List.of(TlsFiles.class)),
          Map.entry("files.", List.of(FilesConfig.class)),
          Map.entry("ring.", List.of(RingConfig.class)),
          Map.entry("pipeline.", List.of(PipelineConfig.class)),
          Map.entry("events.", List.of(CountedEventsConfig.class)),
          Map.entry("spool.", List.of(SpoolConfig.class)),
          Map.entry(
              "routing.",
              List.of(
                  RoutingConfig.class,
                  WatchedFile.class,
                  RoutingRules.Rule.class,
                  RoutingRules.class)),
          Map.entry("detail.", List.of(DetailConfig.class)),
          Map.entry("edges.", List.of(EdgesConfig.class)),
          Map.entry("filters.", List.of(WatchedFile.class)),
          Map.entry("rocketmq.", List.of(PublishConfig.class, PublishConfig.Tls.class)),
          Map.entry("telemetry.", List.of(TelemetryConfig.class, TokenSource.class)),
          Map.entry("telemetry.tls.", List.of(TlsFiles.class)),
          Map.entry("forward.", List.of(ForwardConfig.class)),
          Map.entry("forward.keep.", List.of(ForwardConfig.Keep.class)),
          Map.entry("kubernetes.", List.of(KubernetesConfig.class)));

  /** Records of the agent's lists of sections. */
  private static final Set<Object> SECTIONS =
      Set.of(DetailConfig.Rule.class, EdgesConfig.Rule.class, ForwardConfig.Endpoint.class);

  /** Keys whose components have different names. */
  private static final Map<String, String> COMPONENTS =
      Map.of(
          "default", "standard",
          "token", "value",
          "file", "path",
          "file-poll-millis", "poll-millis",
          "queues-per-application", "queues",
          "tls-ca-file", "ca-file");

  /** The text of keys that only the check at the start reads. */
  private static final String CLEAR_TEXT =
      "whether the agent starts although clients send tokens in clear text: with a token, without"
          + " TLS, on an address that is not loopback. Otherwise this is exit code 2. For ports"
          + " behind a mesh that encrypts";

  @Test
  void agentTableIsGenerated() throws Exception {
    Map<String, String> rows = new LinkedHashMap<>();
    Map<String, String> first = new LinkedHashMap<>();
    for (Map.Entry<String, Object> entry : ConfigReader.read("", Map.of()).values().entrySet()) {
      String key = entry.getKey();
      String[] typeAndText = ofAgent(key);
      String name = key.substring(key.indexOf('.') + 1);
      String same = first.putIfAbsent(name + typeAndText[1], key);
      rows.put(
          key,
          row(
              key,
              entry.getValue().getClass().getSimpleName().equals("Secret")
                  ? "**secret**"
                  : typeAndText[0],
              entry.getValue().toString(),
              same == null ? typeAndText[1] : "as `" + same + "`"));
      if (key.equals("forward.endpoints")) {
        addEndpoint(key, rows);
      }
    }
    check("configuration-agent.md", rows);
  }

  @Test
  void serverTablesAreGenerated() throws Exception {
    Map<String, String> defaults = new LinkedHashMap<>();
    for (KeysInForce.Key key : KeysInForce.of(ServerConfig.defaults(), new StandardEnvironment())) {
      defaults.put(key.key(), key.value());
    }
    defaults.put("trace-etl.rocketmq.workers", "processors");
    defaults.put("trace-etl.rocketmq.access-key", "");
    Map<String, String> rows = new LinkedHashMap<>();
    addServer("trace-etl", serverProperties(), defaults, rows);
    for (FeatureType feature : Features.ALL) {
      if (feature.section() != null) {
        addServer(
            "trace-etl." + feature.section().prefix(), feature.section().keys(), defaults, rows);
      }
    }
    for (Profile profile : Profile.all()) {
      if (profile.settings() != null) {
        addServer("trace-etl." + profile.id(), profile.settings(), defaults, rows);
      }
    }
    check("configuration-server.md", rows);
  }

  private static String[] ofAgent(String key) throws IOException {
    String section = key.substring(0, key.lastIndexOf('.') + 1);
    String name = key.substring(section.length());
    if (name.equals("allow-clear-text-token")) {
      return new String[] {"boolean", CLEAR_TEXT};
    }
    for (Class<?> type : AGENT.get(section)) {
      for (RecordComponent component : type.getRecordComponents()) {
        String kebab = kebab(component.getName());
        boolean isTokenFile = type == TokenSource.class && name.equals("token-file");
        if (kebab.equals(name)
            || (type == TlsFiles.class && name.equals(kebab + "-file"))
            || kebab.equals(isTokenFile ? "file" : COMPONENTS.get(name))) {
          return new String[] {type(component), description(type, component.getName())};
        }
      }
    }
    return new String[] {"path", ofFile()};
  }

  /** Adds the keys of an endpoint, with the defaults of one that has only the required keys. */
  private static void addEndpoint(String key, Map<String, String> rows) throws Exception {
    Class<?> type = ForwardConfig.Endpoint.class;
    Object standard = ForwardConfig.Endpoint.of("", URI.create(""));
    for (RecordComponent component : type.getRecordComponents()) {
      Object value = component.getAccessor().invoke(standard);
      boolean isNone = Optional.empty().equals(value) || Map.of().equals(value);
      String name = key + "[]." + kebab(component.getName());
      String shown = isNone ? "" : value.toString().toLowerCase(Locale.ROOT);
      rows.put(name, row(name, type(component), shown, description(type, component.getName())));
    }
  }

  private static void addServer(
      String prefix, Class<?> type, Map<String, String> defaults, Map<String, String> rows)
      throws IOException {
    Class<?> config = configOf(type);
    for (RecordComponent component : type.getRecordComponents()) {
      String name = component.getName();
      String key = prefix + "." + kebab(name);
      Class<?> element = element(component.getGenericType());
      if (component.getType().isRecord() && component.getType() != Secret.class) {
        addServer(key, component.getType(), defaults, rows);
      } else if (element.isRecord() && element != Secret.class) {
        addServer(key + "[]", element, defaults, rows);
      } else {
        Optional<RecordComponent> described = component(type, name);
        if (description(type, name) == null) {
          described = component(config, name);
        }
        String text =
            described.isEmpty()
                ? ofFile()
                : description(described.get().getDeclaringRecord(), name);
        rows.put(
            key, row(key, type(described.orElse(component)), defaults.getOrDefault(key, ""), text));
      }
    }
  }

  /** Returns the record that a record of properties becomes, or itself if it is bound directly. */
  private static Class<?> configOf(Class<?> properties) {
    return Arrays.stream(properties.getDeclaredMethods())
        .filter(method -> method.getName().equals("toConfig"))
        .<Class<?>>map(Method::getReturnType)
        .findFirst()
        .orElse(properties);
  }

  private static Optional<RecordComponent> component(Class<?> type, String name) {
    return Arrays.stream(type.getRecordComponents())
        .filter(component -> component.getName().equals(name))
        .findFirst();
  }

  private static String ofFile() {
    return "file that contains the key before, in its place";
  }

  private static String row(String key, String type, String standard, String text) {
    String none = key.contains("[]") ? "–" : "none";
    String shown = standard == null || standard.isEmpty() ? none : "`" + standard + "`";
    return "| `%s` | %s | %s | %s |\n".formatted(key, type, shown, text);
  }

  private static String type(RecordComponent component) {
    Class<?> type = element(component.getGenericType());
    String name;
    if (type == Secret.class) {
      name = "**secret**";
    } else if (type == Duration.class) {
      name = "duration";
    } else if (type == Path.class || type == WatchedFile.class) {
      name = "path";
    } else if (type == Boolean.class || type == boolean.class) {
      name = "boolean";
    } else if (type == Double.class || type == double.class) {
      name = "number";
    } else if (Number.class.isAssignableFrom(type) || type.isPrimitive()) {
      name = "integer";
    } else if (type.isEnum()) {
      name =
          Stream.of(type.getEnumConstants())
              .filter(each -> !each.toString().startsWith("EVENT"))
              .map(each -> "`" + each.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
              .collect(joining(", "));
    } else if (Map.class.isAssignableFrom(component.getType())) {
      return "sections";
    } else {
      name =
          type == PublishConfig.Tls.class
              ? "boolean"
              : SECTIONS.contains(type) ? "sections" : "text";
    }
    return Collection.class.isAssignableFrom(component.getType()) ? "list of " + name : name;
  }

  /** Returns the element type of a list, set or optional; else the type. */
  private static Class<?> element(Type type) {
    return switch (type) {
      case Class<?> alone -> alone;
      case ParameterizedType generic
          when generic.getActualTypeArguments()[0] instanceof Class<?> e ->
          e;
      default -> Object.class;
    };
  }

  /** Returns the Javadoc text of a component, or null. */
  private static String description(Class<?> type, String component) throws IOException {
    Class<?> top = type;
    while (top.getEnclosingClass() != null) {
      top = top.getEnclosingClass();
    }
    String source = Files.readString(source(top.getName().replace('.', '/') + ".java"));
    Matcher record =
        Pattern.compile(
                "\n"
                    + " *+/\\*\\*((?:(?!\\*/).)*)\\*/\\s+(?:@\\S+\\s+)*(?:public |private |static"
                    + " )*record "
                    + type.getSimpleName()
                    + "\\(",
                Pattern.DOTALL)
            .matcher(source);
    if (!record.find()) {
      return null;
    }
    String text = record.group(1).replaceAll("\n *\\* ?", "\n");
    Matcher param =
        Pattern.compile("@param " + component + "\\s(.*?)(?=\n@|$(?![\\s\\S]))", Pattern.DOTALL)
            .matcher(text);
    return param.find()
        ? CODE.matcher(param.group(1))
            .replaceAll(code -> Matcher.quoteReplacement("`" + code.group(1) + "`"))
            .strip()
            .replaceAll("\\s+", " ")
        : null;
  }

  /** Returns the file of a top-level class; its directory must be a module's. */
  private static Path source(String name) throws IOException {
    Path file = Path.of("src/main/java").resolve(name);
    // Modules are at most two levels deep. A search of everything below would take minutes.
    try (Stream<Path> directories = Files.walk(ROOT, 2)) {
      return directories
          .map(directory -> directory.resolve(file))
          .filter(Files::exists)
          .findFirst()
          .orElseThrow();
    }
  }

  private static Class<?> serverProperties() throws ReflectiveOperationException {
    return Class.forName("org.traceetl.server.binding.ServerProperties");
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  /** Checks that each key is in the table of its longest prefix. */
  private static void check(String file, Map<String, String> rows) throws IOException {
    Path document = ROOT.resolve("docs").resolve(file);
    String text = Files.readString(document);
    List<String> prefixes =
        TABLE
            .matcher(text)
            .results()
            .flatMap(table -> Stream.of(table.group(2).split(" ")))
            .toList();
    TreeSet<String> written = new TreeSet<>();
    String generated =
        TABLE
            .matcher(text)
            .replaceAll(table ->
                Matcher.quoteReplacement(
                    table.group(1)
                        + "| key | type | default | meaning |\n|---|---|---|---|\n"
                        + rowsOf(table, prefixes, rows, written)
                        + table.group(3)));
    assertThat(written).containsExactlyInAnyOrderElementsOf(rows.keySet());
    if (Boolean.getBoolean("traceetl.docs.write")) {
      Files.writeString(document, generated);
    }
    assertThat(Files.readString(document))
        .as("tables of keys; -Dtraceetl.docs.write=true writes them")
        .isEqualTo(generated);
  }

  private static String rowsOf(
      MatchResult table, List<String> prefixes, Map<String, String> rows, TreeSet<String> written) {
    List<String> own = List.of(table.group(2).split(" "));
    StringBuilder text = new StringBuilder();
    rows.forEach((key, row) -> {
      String longest =
          prefixes.stream()
              .filter(prefix -> (key + ".").startsWith(prefix + ".") || prefix.equals("*"))
              .reduce("", (a, b) -> b.length() > a.length() ? b : a);
      if (own.contains(longest)) {
        text.append(row);
        written.add(key);
      }
    });
    return text.toString();
  }
}
