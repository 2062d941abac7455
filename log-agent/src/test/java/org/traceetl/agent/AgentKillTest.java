package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;
import org.traceetl.testkit.TestRocketMq;

/**
 * Kills an agent's process repeatedly, in front of a real broker. Senders repeat each request until
 * it is answered, one application writes a trace log, and another writes into a ring.
 */
final class AgentKillTest {
  private static final String TOPIC = "kills";
  private static final int QUEUES = 4;
  private static final int KILLS = 6;
  private static final int SENDERS = 4;
  private static final int SPANS_PER_REQUEST = 5;
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Pattern PORTS = Pattern.compile("Receiving OTLP on .*, HTTP port (\\d+)");

  /** Span IDs of the file are above this number, those of requests below. */
  private static final long FILE_IDS = 1L << 40;

  /** Span IDs of the ring are above this number. */
  private static final long RING_IDS = 1L << 41;

  @TempDir private Path directory;

  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger answered = new AtomicInteger();
  private final Set<Long> sent = ConcurrentHashMap.newKeySet();
  private volatile int port;
  private volatile boolean stopping;
  private Path log;
  private int lines;
  private RingWriter ring;
  private int records;

  @Test
  void everySpanArrivesOnceThroughKillsAtAnyMoment() throws Exception {
    Random random = new Random();
    log = Files.createFile(directory.resolve("trace.log"));
    try (TestRocketMq broker = new TestRocketMq(directory.resolve("rocketmq"));
        RingWriter writer =
            RingWriter.create(
                Files.createDirectory(directory.resolve("rings")),
                "1-0123456789abcdef.ring",
                RingWriter.Shape.smallest("rings"))) {
      ring = writer;
      broker.createTopic(TOPIC, QUEUES);
      List<Thread> senders = new ArrayList<>();
      for (int i = 0; i < SENDERS; i++) {
        senders.add(Thread.ofPlatform().name("sender-" + i).start(this::send));
      }
      for (int kill = 0; kill < KILLS; kill++) {
        Process agent = start(broker, kill);
        int enough = answered.get() + 1 + random.nextInt(300);
        await()
            .atMost(LONG)
            .until(() -> {
              write();
              return answered.get() >= enough;
            });
        agent.toHandle().destroyForcibly();
        agent.waitFor();
      }
      Process last = start(broker, KILLS);
      stopping = true;
      for (Thread sender : senders) {
        assertThat(sender.join(LONG)).isTrue();
      }
      await().atMost(LONG).until(() -> arrived(broker).size() == sent.size());
      last.toHandle().destroy();
      assertThat(last.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();

      assertThat(arrived(broker)).isEqualTo(new TreeSet<>(sent));
      assertThat(sent).hasSizeGreaterThan(KILLS * SENDERS * SPANS_PER_REQUEST);
      assertThat(lines).isPositive();
      assertThat(records).isPositive();
    } finally {
      stopping = true;
      client.close();
    }
  }

  private Process start(TestRocketMq broker, int number) throws IOException {
    Path config = directory.resolve("agent.yaml");
    Files.writeString(
        config,
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {enabled: false}
        files: {paths: ["%s"], poll-interval-millis: 10}
        ring: {directory: "%s"}
        pipeline: {linger-millis: 5}
        rocketmq: {name-server: "%s", topic: %s}
        """
            .formatted(
                directory.resolve("state"),
                log,
                directory.resolve("rings"),
                broker.namesrvAddress(),
                TOPIC));
    Path output = directory.resolve("agent-" + number + ".log");
    Process agent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                LogAgent.class.getName(),
                "--config",
                config.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    await()
        .atMost(LONG)
        .until(() -> {
          assertThat(agent.isAlive()).as(() -> read(output)).isTrue();
          Matcher ports = PORTS.matcher(read(output));
          if (ports.find()) {
            port = Integer.parseInt(ports.group(1));
          }
          return ports.hasMatch();
        });
    return agent;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Runs one sender, which sends a request after the previous one is answered. */
  private void send() {
    while (!stopping) {
      String body = request(requests.getAndIncrement());
      await().atMost(LONG).pollInterval(Duration.ofMillis(10)).until(() -> post(body) == 200);
      answered.incrementAndGet();
    }
  }

  private int post(String body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/traces"))
              .header("Content-Type", "application/json")
              .timeout(Duration.ofSeconds(2))
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    } catch (IOException | IllegalArgumentException e) {
      return -1;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String request(int number) {
    List<String> spans = new ArrayList<>();
    for (int i = 0; i < SPANS_PER_REQUEST; i++) {
      long id = 1 + (long) number * SPANS_PER_REQUEST + i;
      sent.add(id);
      spans.add(
          """
          {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "%016x", "name": "op-%d",
           "kind": 2, "startTimeUnixNano": "1795255028312000000",
           "endTimeUnixNano": "1795255028412000000"}\
          """
              .formatted(id, i));
    }
    return """
    {"resourceSpans": [{"resource": {"attributes": [
      {"key": "service.name", "value": {"stringValue": "checkout-%d"}}]},
      "scopeSpans": [{"spans": [%s]}]}]}\
    """
        .formatted(number % 7, String.join(",", spans));
  }

  /** Writes as the application does, which ignores the agent's state. */
  private void write() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      long id = FILE_IDS + ++lines;
      sent.add(id);
      text.append(
          "2026-11-21 10:00:00.000 ||| 1795255028312000000 ### 1500000 ### 10.0.0.7 ### cart ### GET /"
              + i
              + " ### UNSET ### 0af7651916cd43dd8448eb211c80319c ### "
              + "%016x".formatted(id)
              + " ### [] ### [] ### {\"serviceName\":\"cart\",\"tags\":[]} ### [] ### \n");
    }
    Files.write(log, text.toString().getBytes(UTF_8), StandardOpenOption.APPEND);
    for (int i = 0; i < 20; i++) {
      // If the ring is full, it drops the span; the next span reuses the number.
      if (ring.write(RingSpan.numbered(RING_IDS + records + 1))) {
        sent.add(RING_IDS + ++records);
      }
    }
  }

  /** Returns the spans of all batches, each batch counted once by its name, as in the server. */
  private static Set<Long> arrived(TestRocketMq broker) throws Exception {
    Map<List<Object>, byte[]> batches = new HashMap<>();
    Set<Long> spans = new TreeSet<>();
    for (int queue = 0; queue < QUEUES; queue++) {
      for (byte[] message : broker.messagesOf(TOPIC, queue)) {
        SpanBatchReader reader = new SpanBatchReader();
        assertThat(reader.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
        List<Object> name =
            List.of(
                queue, reader.agentHigh(), reader.agentLow(), reader.epoch(), reader.sequence());
        byte[] before = batches.put(name, message);
        if (before != null) {
          assertThat(message).as("a repeat of %s", name).isEqualTo(before);
          continue;
        }
        Set<Long> ofBatch = new HashSet<>();
        while (reader.next()) {
          assertThat(ofBatch.add(reader.spanId())).isTrue();
        }
        for (long span : ofBatch) {
          assertThat(spans.add(span)).as("span %s counts once", span).isTrue();
        }
      }
    }
    return spans;
  }
}
