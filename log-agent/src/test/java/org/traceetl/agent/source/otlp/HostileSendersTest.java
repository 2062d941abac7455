package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.otlp.Receivers.isClosed;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.http.FewHeaders;
import org.traceetl.agent.source.otlp.OtlpMetrics.Refusal;

/** Tests senders that try to make the agent hold more than they send. */
@Timeout(120)
final class HostileSendersTest {
  private static final int MAX_REQUEST_BYTES = 1 << 20;
  private static final long BUDGET_BYTES = 4 << 20;
  private static final int CONNECTIONS = 300;

  /** The heap that the agent accounts to a connection. */
  private static final long CONNECTION_BYTES = 64 * 1_024;

  /** The bytes that a call counts for in addition to its message. */
  private static final long CALL_BYTES = 4 * 1_024;

  private static final String HEAD =
      "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
          + "Transfer-Encoding: chunked\r\n";

  private final List<Socket> opened = new ArrayList<>();
  private OtlpReceiver receiver;

  @AfterEach
  void stop() throws IOException {
    for (Socket socket : opened) {
      socket.close();
    }
    receiver.close();
  }

  @Test
  void aHeadOfTooManyHeadersIsRefused() throws IOException {
    start();
    String most = HEAD + "a:b\r\n".repeat(FewHeaders.MOST - 3);
    assertThat(answerTo(most + "\r\n2\r\n{}\r\n0\r\n\r\n")).startsWith("HTTP/1.1 200");
    assertThat(answerTo(most + "a:b\r\n\r\n2\r\n{}\r\n0\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(receiver.metrics().requestsRefused(Refusal.MALFORMED)).isOne();
  }

  @Test
  void aBodyInTheSmallestPiecesCountsForItsHeap() throws IOException {
    start();
    int pieces = (int) (BUDGET_BYTES / 2 / 1_024);
    // Trailing spaces are well-formed JSON.
    String answer = answerTo(HEAD + "\r\n" + "1\r\n \r\n".repeat(pieces + 20));

    assertThat(answer).startsWith("HTTP/1.1 429");
    assertThat(receiver.metrics().requestsRefused(Refusal.CLIENT_FULL)).isOne();
    await().until(() -> receiver.bytesBeingRead() == 0);
  }

  @Test
  void aLongExtensionOfAChunkIsRefused() throws IOException {
    start();
    assertThat(answerTo(HEAD + "\r\n1;" + "x".repeat(2_000) + "\r\n")).startsWith("HTTP/1.1 4");
  }

  @Test
  void tooManyPipelinedRequestsEndTheConnection() throws IOException {
    start((source, payload, length, decoder, completion) -> Intake.Admission.ACCEPTED);
    Socket impatient = connect(receiver.httpPort());
    write(impatient, (HEAD + "\r\n2\r\n{}\r\n0\r\n\r\n").repeat(100));

    assertThat(isClosed(impatient)).isTrue();
    assertThat(receiver.metrics().requestsRefused(Refusal.NO_ROOM)).isOne();
  }

  @Test
  void aCallInTheSmallestFramesCountsForItsHeap() throws IOException {
    start();
    ByteArrayOutputStream call = new ByteArrayOutputStream();
    openCall(call, 1);
    // Part of a message of the largest size; the frame header has five bytes.
    data(call, 1, new byte[] {0, 0, 0x0f, 0, 0});
    for (int i = 0; i < BUDGET_BYTES / 2 / 1_024 + 16; i++) {
      data(call, 1, new byte[1]);
    }
    Socket sender = connect(receiver.grpcPort());
    sender.getOutputStream().write(preface());
    sender.getOutputStream().write(call.toByteArray());

    await().until(() -> receiver.metrics().requestsRefused(Refusal.CLIENT_FULL) == 1);
    await().until(() -> receiver.bytesBeingRead() == 0);
  }

  @Test
  void callsWithoutAMessageCountForTheirHeads() throws IOException {
    start();
    int most = (int) (BUDGET_BYTES / 2 / 4_096) + 2; // plus 8 KiB for the framing of one
    int calls = 0;
    while (calls < most + 32) {
      ByteArrayOutputStream sixteen = new ByteArrayOutputStream();
      sixteen.write(preface());
      for (int stream = 1; stream < 32; stream += 2) {
        openCall(sixteen, stream);
        calls++;
      }
      connect(receiver.grpcPort()).getOutputStream().write(sixteen.toByteArray());
    }

    int refused = calls - most;
    await().until(() -> receiver.metrics().requestsRefused(Refusal.CLIENT_FULL) == refused);
    assertThat(receiver.bytesBeingRead()).isEqualTo(most * 4_096L);
    for (Socket socket : opened) {
      socket.close();
    }
    await().until(() -> receiver.bytesBeingRead() == 0);
  }

  /**
   * Opens the most connections, each with the largest head and a body that arrives byte by byte.
   */
  @Test
  void requestsTakeAtMostTheAccountedHeap() throws IOException {
    start();
    String head = HEAD + "a:b\r\n".repeat(FewHeaders.MOST - 3) + "\r\n";
    long before = usedAfterCollection();
    for (int i = 0; i < CONNECTIONS; i++) {
      write(connect(receiver.httpPort()), head + "1\r\n \r\n".repeat(10) + "1");
    }
    await().until(() -> receiver.bytesBeingRead() + refusedBytes() >= CONNECTIONS * 10 * 1_024L);

    assertThat(receiver.bytesBeingRead()).isLessThanOrEqualTo(BUDGET_BYTES);
    awaitLessUsed(before + CONNECTIONS * CONNECTION_BYTES + BUDGET_BYTES);
  }

  /**
   * The heads have gRPC's maximum size, in the smallest headers. They are discarded once their call
   * begins: what remains is within the accounted bytes of calls and connections.
   */
  @Test
  void callsWithTheLargestHeadsTakeAtMostTheAccountedHeap() throws IOException {
    start();
    openCalls(16, 220);
    await().until(() -> receiver.bytesBeingRead() == 16 * CALL_BYTES);
    long before = usedAfterCollection();
    openCalls(480, 220);
    await().until(() -> receiver.bytesBeingRead() == 496 * CALL_BYTES);

    awaitLessUsed(before + 480 / 16 * CONNECTION_BYTES);
  }

  /** The event loops may still discard what they have read, and other threads may allocate. */
  private static void awaitLessUsed(long bytes) {
    await().untilAsserted(() -> assertThat(usedAfterCollection()).isLessThan(bytes));
  }

  private void openCalls(int calls, int headers) throws IOException {
    ByteArrayOutputStream sixteen = new ByteArrayOutputStream();
    for (int i = 0; i < calls; i++) {
      if (i % 16 == 0) {
        sixteen.reset();
        sixteen.write(preface());
      }
      ByteArrayOutputStream head = head();
      for (int j = 0; j < headers; j++) {
        header(head, "" + (char) ('a' + j / 26) + (char) ('a' + j % 26), "b");
      }
      frame(sixteen, 1, 4, 1 + 2 * (i % 16), head.toByteArray());
      if (i % 16 == 15 || i == calls - 1) {
        connect(receiver.grpcPort()).getOutputStream().write(sixteen.toByteArray());
      }
    }
  }

  /** Returns the heap for the answers to refused calls. */
  private long refusedBytes() {
    return 10
        * 1_024
        * (receiver.metrics().requestsRefused(Refusal.NO_ROOM)
            + receiver.metrics().requestsRefused(Refusal.CLIENT_FULL));
  }

  private static long usedAfterCollection() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private void start() throws IOException {
    start((source, payload, length, decoder, completion) -> {
      completion.released(payload);
      completion.confirmed(0, 0, "");
      return Intake.Admission.ACCEPTED;
    });
  }

  private void start(Intake intake) throws IOException {
    OtlpConfig config =
        new OtlpConfig(true, "127.0.0.1", 0, 0, MAX_REQUEST_BYTES)
            .withLimits(new OtlpLimits(CONNECTIONS, CONNECTIONS, 0, 60_000));
    receiver = Receivers.start(config, BUDGET_BYTES, intake);
  }

  private Socket connect(int port) throws IOException {
    Socket socket = new Socket("127.0.0.1", port);
    opened.add(socket);
    return socket;
  }

  private String answerTo(String request) throws IOException {
    Socket socket = connect(receiver.httpPort());
    write(socket, request);
    byte[] answer = new byte[1_000];
    return new String(answer, 0, socket.getInputStream().read(answer), US_ASCII);
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(US_ASCII));
  }

  /** Returns the start of an HTTP/2 connection: the preface, and settings without changes. */
  private static byte[] preface() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
    frame(out, 4, 0, 0, new byte[0]);
    return out.toByteArray();
  }

  /** Writes the head of a call, without its message. */
  private static void openCall(ByteArrayOutputStream out, int stream) throws IOException {
    frame(out, 1, 4, stream, head().toByteArray());
  }

  private static ByteArrayOutputStream head() throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    head.write(0x83); // :method: POST
    head.write(0x86); // :scheme: http
    header(head, ":path", "/" + GrpcEndpoint.SERVICE + "/Export");
    header(head, ":authority", "x");
    header(head, "content-type", "application/grpc");
    header(head, "te", "trailers");
    return head;
  }

  private static void header(ByteArrayOutputStream head, String name, String value)
      throws IOException {
    // A literal without indexing, its name and value as plain text.
    head.write(0);
    head.write(name.length());
    head.write(name.getBytes(US_ASCII));
    head.write(value.length());
    head.write(value.getBytes(US_ASCII));
  }

  private static void data(OutputStream out, int stream, byte[] bytes) throws IOException {
    frame(out, 0, 0, stream, bytes);
  }

  private static void frame(OutputStream out, int type, int flags, int stream, byte[] content)
      throws IOException {
    out.write(new byte[] {0, (byte) (content.length >>> 8), (byte) content.length});
    out.write(type);
    out.write(flags);
    out.write(new byte[] {0, 0, 0, (byte) stream});
    out.write(content);
  }
}
