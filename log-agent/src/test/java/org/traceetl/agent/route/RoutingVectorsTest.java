package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameTemplate;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Compares the routing with the golden vectors, and with an independent implementation. */
final class RoutingVectorsTest {
  /** A test case for implementations in other languages: inputs and results. */
  private record Vector(
      List<Queue> topic,
      String application,
      int queues,
      String spread,
      String name,
      int kind,
      int status,
      String traceId,
      String spanId,
      String applicationHash,
      String seriesHash,
      List<String> candidates,
      String queue) {}

  private record Queue(String broker, int id) {}

  private static final Path PYTHON = Path.of("src", "test", "python", "routing.py");
  private static final int RANDOM_VECTORS = 2_000;

  private final JsonMapper json = new JsonMapper();

  @Test
  void javaAgreesWithTheGoldenVectors() throws IOException {
    List<Vector> vectors;
    try (InputStream in = Router.class.getResourceAsStream("routing-vectors.json")) {
      vectors = json.readValue(in, new TypeReference<List<Vector>>() {});
    }

    assertThat(vectors)
        .hasSize(80)
        .allSatisfy(vector -> assertThat(routed(vector)).isEqualTo(vector));
  }

  @Test
  void theImplementationInPythonAgreesWithTheGoldenVectors() throws Exception {
    Path vectors =
        Path.of("src", "main", "resources", "org", "traceetl", "agent", "route")
            .resolve("routing-vectors.json");

    assertThat(python(vectors)).isEqualTo("80 vectors, 0 differences\n");
  }

  @Test
  void theImplementationInPythonAgreesWithJavaOnAnyInput(@TempDir Path directory) throws Exception {
    Random random = new Random();
    List<Vector> vectors = new ArrayList<>();
    for (int i = 0; i < RANDOM_VECTORS; i++) {
      vectors.add(routed(any(random)));
    }
    Path file = directory.resolve("vectors.json");
    Files.write(file, json.writeValueAsBytes(vectors));

    assertThat(python(file)).isEqualTo(RANDOM_VECTORS + " vectors, 0 differences\n");
  }

  private static Vector any(Random random) {
    Map<String, Queue> topic = new LinkedHashMap<>();
    for (int i = random.nextInt(40); i >= 0; i--) {
      Queue queue = new Queue("broker-" + (char) ('a' + random.nextInt(4)), random.nextInt(64));
      topic.put(queue.toString(), queue);
    }
    return new Vector(
        List.copyOf(topic.values()),
        text(random, 40),
        1 + random.nextInt(9),
        random.nextBoolean() ? "series" : "random",
        nameWithoutIdentifiers(random),
        random.nextInt(6),
        random.nextInt(3),
        String.format("%016x%016x", random.nextLong(), random.nextLong()),
        String.format("%016x", random.nextLong()),
        "",
        "",
        List.of(),
        "");
  }

  /** Names with identifiers are covered by the tests of {@link NameTemplate}. */
  private static String nameWithoutIdentifiers(Random random) {
    NameTemplate template = new NameTemplate();
    String name;
    byte[] bytes;
    do {
      name = text(random, 90);
      bytes = name.getBytes(UTF_8);
    } while (template.write(bytes, 0, bytes.length) != NameTemplate.UNCHANGED);
    return name;
  }

  private static String text(Random random, int mostCharacters) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(mostCharacters); i >= 0; i--) {
      text.appendCodePoint(
          random.nextInt(8) == 0 ? 0x1f600 + random.nextInt(40) : 33 + random.nextInt(90));
    }
    return text.toString();
  }

  /** Returns the vector with Java's results for its inputs. */
  private static Vector routed(Vector in) {
    Topology topology =
        new Topology(in.topic.stream().map(q -> new BrokerQueue(q.broker, q.id)).toList());
    Rule rule = new Rule(in.queues, Spread.valueOf(in.spread.toUpperCase(Locale.ROOT)), false);
    Router router = new Router(new RoutingRules(rule, Map.of(), Set.of()));
    SpanView span = RouterTest.span(in.name, in.kind, in.status);
    span.spanId = Long.parseUnsignedLong(in.spanId, 16);
    span.traceIdLow = Long.parseUnsignedLong(in.traceId.substring(16), 16);
    Route route = RouterTest.route(router, in.application, topology);
    List<String> candidates = new ArrayList<>();
    for (int i = 0; i < route.size(); i++) {
      candidates.add(route.queue(i).toString());
    }
    byte[] name = in.application.getBytes(UTF_8);
    long application = RouteHash.application(name, 0, name.length);
    long series = RouteHash.series(application, span.name, 0, span.nameLength, in.kind, in.status);
    return new Vector(
        in.topic,
        in.application,
        in.queues,
        in.spread,
        in.name,
        in.kind,
        in.status,
        in.traceId,
        in.spanId,
        String.format("%016x", application),
        String.format("%016x", series),
        candidates,
        route.queue(route.candidate(span, new SeriesHash())).toString());
  }

  private static String python(Path vectors) throws Exception {
    assumeThat(interpreterIsThere()).as("python3 is on the path").isTrue();
    Process process =
        new ProcessBuilder("python3", "-B", PYTHON.toString(), vectors.toString())
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return out;
  }

  private static boolean interpreterIsThere() throws InterruptedException {
    try {
      return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
