package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.TestRocketMq;

/** Commands that read retained messages wait for a name server that begins to answer later. */
class LateNameServerTest {
  private static final String TOPIC = "late";

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  private final StringWriter out = new StringWriter();
  private final LateRelay relay = new LateRelay();

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(TOPIC, 1);
    rocketMq.send(TOPIC, 0, batch(), Map.of(BatchAges.PROPERTY, "600000"));
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  /** Listens at the address that a command has, and relays to the name server, once it waits. */
  private static final class LateRelay extends StringWriter {
    private final int port;
    private ServerSocket listener;

    LateRelay() {
      try {
        port = new Ports().next();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Receives a line of the command, on its thread. */
    @Override
    public void write(String text, int from, int length) {
      super.write(text, from, length);
      if (listener == null && toString().contains("; trying again for up to ")) {
        try {
          listener = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(() -> accept(listener));
      }
    }

    private static void accept(ServerSocket listener) {
      String[] address = rocketMq.namesrvAddress().split(":", 2);
      try (listener) {
        while (true) {
          Socket client = listener.accept();
          Socket server = new Socket(address[0], Integer.parseInt(address[1]));
          Thread.ofVirtual().start(() -> copy(client, server));
          Thread.ofVirtual().start(() -> copy(server, client));
        }
      } catch (IOException e) {
        // The test has ended.
      }
    }

    private static void copy(Socket from, Socket to) {
      try (from;
          to;
          InputStream in = from.getInputStream();
          OutputStream out = to.getOutputStream()) {
        in.transferTo(out);
      } catch (IOException e) {
        // One of them has closed the connection.
      }
    }

    void stop() throws IOException {
      if (listener != null) {
        listener.close();
      }
    }
  }

  private static byte[] batch() {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, "shop"));
    writer.startSpan(7, 1, 1, 0, intern(writer, "GET /"), 2, 0, 1_000, 1_500_000, 0);
    writer.endSpan();
    return Arrays.copyOf(writer.buffer(), writer.finish(1, 0, 1, 0));
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private int run(String command, String... more) throws Exception {
    Path rules = Files.writeString(directory.resolve("rules.yaml"), "revision: 7\n");
    try {
      return TraceEtlServer.run(
          new PrintWriter(out, true),
          new PrintWriter(relay, true),
          Stream.concat(
                  Stream.of(
                      command,
                      "--trace-etl.rocketmq.topic=" + TOPIC,
                      "--trace-etl.rocketmq.name-server=127.0.0.1:" + relay.port,
                      "--application=shop",
                      "--since=1h",
                      "--rules=" + rules),
                  Arrays.stream(more))
              .toArray(String[]::new));
    } finally {
      relay.stop();
    }
  }

  private void assertThatItWaited() {
    assertThat(relay.toString())
        .startsWith(
            "Name server 127.0.0.1:" + relay.port + " does not answer; trying again for up to ");
  }

  @Test
  void previewWaits() throws Exception {
    assertThat(run("preview")).as(relay.toString()).isZero();
    assertThatItWaited();
    assertThat(out.toString()).startsWith("shop: 1 of 1 messages");
  }

  @Test
  void backfillWaits() throws Exception {
    assertThat(run("backfill", "--output=" + directory.resolve("output")))
        .as(relay.toString())
        .isZero();
    assertThatItWaited();
    assertThat(out.toString()).contains("counted  1 spans");
  }
}
