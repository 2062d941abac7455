package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.otlp.Receivers.isClosed;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.otlp.OtlpMetrics.ConnectionRefusal;
import org.traceetl.agent.source.otlp.OtlpMetrics.Refusal;

/** Tests the limits of one sender. */
@Timeout(60)
class OtlpLimitsTest {
  private static final int MAX_REQUEST_BYTES = Receivers.MAX_REQUEST_BYTES;
  private static final String ONE = "127.0.0.1";
  private static final String OTHER = "127.0.0.2";

  private final HoldingIntake intake = new HoldingIntake();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private OtlpReceiver receiver;

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    receiver.close();
  }

  @Test
  void aSenderAtItsLimitWaitsAndOthersDoNot() throws Exception {
    start(new OtlpLimits(100, 100, MAX_REQUEST_BYTES, 30_000));
    Http first = http(ONE);
    first.post(80_000);
    await().until(() -> intake.held() == 1);

    Http second = http(ONE);
    second.post(80_001);
    assertThat(second.answer()).startsWith("HTTP/1.1 429").containsIgnoringCase("retry-after: 1");
    assertThat(grpc(ONE, 80_002).join().getDescription()).contains(Clients.FULL);
    assertThat(receiver.metrics().requestsRefused(Refusal.CLIENT_FULL)).isEqualTo(2);

    Http other = http(OTHER);
    other.post(80_003);
    CompletableFuture<Status> otherCall = grpc("127.0.0.3", 80_004);
    await().until(() -> intake.held() == 3);
    intake.release();
    assertThat(first.answer()).startsWith("HTTP/1.1 200");
    assertThat(other.answer()).startsWith("HTTP/1.1 200");
    assertThat(otherCall.join().isOk()).isTrue();

    CompletableFuture<Status> again = grpc(ONE, 80_005);
    await().until(() -> intake.held() == 1);
    intake.release();
    assertThat(again.join().isOk()).isTrue();
  }

  @Test
  void bytesOfAClosedConnectionStillCount() throws Exception {
    start(new OtlpLimits(100, 100, MAX_REQUEST_BYTES, 30_000));
    try (Http gone = http(ONE)) {
      gone.post(80_000);
      await().until(() -> intake.held() == 1);
    }

    assertThat(grpc(ONE, 80_001).join().getDescription()).contains(Clients.FULL);

    closeAll();
    await().until(() -> receiver.clients() == 1);
    intake.release();
    await().until(() -> receiver.clients() == 0);
  }

  @Test
  void refusedRequestsDoNotCount() throws Exception {
    start(new OtlpLimits(100, 100, MAX_REQUEST_BYTES, 30_000));
    for (int i = 0; i < 3; i++) {
      intake.refuseNext();
      Http refused = http(ONE);
      refused.post(80_000);
      assertThat(refused.answer()).startsWith("HTTP/1.1 429");
      intake.refuseNext();
      assertThat(grpc(ONE, 80_000).join().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }
    assertThat(receiver.metrics().requestsRefused(Refusal.CLIENT_FULL)).isZero();
  }

  @Test
  void oneRequestOfTheLargestSizeIsAlwaysAccepted() throws Exception {
    start(new OtlpLimits(100, 100, 0, 30_000), 1_000);
    Http sender = http(ONE);
    sender.post(900);
    await().until(() -> intake.held() == 1);
    intake.release();
    assertThat(sender.answer()).startsWith("HTTP/1.1 200");
  }

  @Test
  void aSendersConnectionsAreLimitedOverBothPorts() throws Exception {
    start(new OtlpLimits(100, 2, 0, 30_000));
    Socket first = acceptedHttp(ONE);
    acceptedGrpc(ONE);
    assertThat(isClosed(connect(ONE, receiver.httpPort()))).isTrue();
    assertThat(isClosed(connect(ONE, receiver.grpcPort()))).isTrue();
    assertThat(receiver.metrics().connectionsRefused(ConnectionRefusal.CLIENT)).isEqualTo(2);
    assertThat(receiver.clients()).isOne();

    Http other = http(OTHER);
    other.post(100);
    await().until(() -> intake.held() == 1);

    first.close();
    await()
        .until(() -> {
          Socket again = connect(ONE, receiver.httpPort());
          ask(again);
          return !isClosed(again);
        });
  }

  @Test
  void allConnectionsAreLimited() throws Exception {
    start(new OtlpLimits(2, 2, 0, 30_000));
    acceptedHttp(ONE);
    acceptedGrpc(OTHER);
    assertThat(isClosed(connect("127.0.0.3", receiver.httpPort()))).isTrue();
    assertThat(receiver.metrics().connectionsRefused(ConnectionRefusal.ALL)).isOne();
  }

  @Test
  void disconnectedSendersAreForgotten() throws Exception {
    start(new OtlpLimits(100, 100, 0, 30_000));
    for (int i = 1; i <= 20; i++) {
      connect("127.0.0." + i, receiver.httpPort());
    }
    await().until(() -> receiver.clients() == 20);
    closeAll();
    await().until(() -> receiver.clients() == 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "P",
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Len",
        "POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
      })
  void anIncompleteRequestEndsItsConnectionAfterTheTimeout(String part) throws Exception {
    start(new OtlpLimits(100, 100, 0, 200));
    Socket slow = connect(ONE, receiver.httpPort());
    slow.getOutputStream().write(part.getBytes(US_ASCII));

    assertThat(isClosed(slow)).isTrue();

    assertThat(receiver.metrics().requestsRefused(Refusal.TIMEOUT)).isOne();
  }

  @Test
  void theTimeOfAnAnswerDoesNotCount() throws Exception {
    start(new OtlpLimits(100, 100, 0, 200));
    Http patient = http(ONE);
    patient.post(100);
    patient.write("POST /v1/traces HTTP/1.1\r\n");
    await().until(() -> intake.held() == 1);
    // When this connection is closed, the time limit has passed.
    Socket slow = connect(ONE, receiver.httpPort());
    slow.getOutputStream().write('P');
    assertThat(isClosed(slow)).isTrue();

    intake.release();

    assertThat(patient.answer()).startsWith("HTTP/1.1 200");
  }

  @Test
  void anIncompleteCallEndsAfterTheTimeout() throws Exception {
    start(new OtlpLimits(100, 100, 0, 200));
    CompletableFuture<Status> ended = new CompletableFuture<>();
    ClientCall<byte[], byte[]> call = call(ONE, ended);
    call.sendMessage(new byte[10_000]);

    assertThat(ended.join().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(ended.join().getDescription())
        .isEqualTo("the request was not complete within 200 ms");
    assertThat(receiver.metrics().requestsRefused(Refusal.TIMEOUT)).isOne();
    assertThat(intake.held()).isZero();

    // The time that an answer takes does not count here either.
    CompletableFuture<Status> slow = grpc(ONE, 100);
    await().until(() -> intake.held() == 1);
    call(ONE, new CompletableFuture<>()).sendMessage(new byte[1]);
    await().until(() -> receiver.metrics().requestsRefused(Refusal.TIMEOUT) == 2);
    intake.release();
    assertThat(slow.join().isOk()).isTrue();
  }

  private void start(OtlpLimits limits) throws IOException {
    start(limits, MAX_REQUEST_BYTES);
  }

  private void start(OtlpLimits limits, int maxRequestBytes) throws IOException {
    OtlpConfig config = new OtlpConfig(true, "0.0.0.0", 0, 0, maxRequestBytes).withLimits(limits);
    receiver = Receivers.start(config, 10L * maxRequestBytes, intake);
  }

  private Socket connect(String from, int port) throws IOException {
    Socket socket =
        new Socket(InetAddress.getByName("127.0.0.1"), port, InetAddress.getByName(from), 0);
    opened.add(socket);
    return socket;
  }

  /**
   * Opens a connection and waits for an answer. Each port accepts in its own thread. Without the
   * wait, connections to both ports could be counted in another order.
   */
  private Socket acceptedHttp(String from) throws IOException {
    Socket socket = connect(from, receiver.httpPort());
    ask(socket);
    assertThat(isClosed(socket)).isFalse();
    return socket;
  }

  /** Opens a connection and waits for the server's first frame; see {@link #acceptedHttp}. */
  private void acceptedGrpc(String from) throws IOException {
    assertThat(isClosed(connect(from, receiver.grpcPort()))).isFalse();
  }

  private static void ask(Socket socket) throws IOException {
    socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
  }

  private void closeAll() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    opened.clear();
  }

  private Http http(String from) throws IOException {
    return new Http(connect(from, receiver.httpPort()));
  }

  private record Http(Socket socket) implements AutoCloseable {
    /** Sends one request for each length. */
    void post(int length) throws IOException {
      write(
          "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
              + "Content-Length: "
              + length
              + "\r\n\r\n"
              + "x".repeat(length));
    }

    void write(String text) throws IOException {
      socket.getOutputStream().write(text.getBytes(US_ASCII));
    }

    String answer() throws IOException {
      byte[] answer = new byte[1_000];
      return new String(answer, 0, socket.getInputStream().read(answer), US_ASCII);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private CompletableFuture<Status> grpc(String from, int length) {
    CompletableFuture<Status> ended = new CompletableFuture<>();
    ClientCall<byte[], byte[]> call = call(from, ended);
    call.sendMessage(new byte[length]);
    call.halfClose();
    return ended;
  }

  private ClientCall<byte[], byte[]> call(String from, CompletableFuture<Status> ended) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", receiver.grpcPort())
            .usePlaintext()
            .localSocketPicker(
                new NettyChannelBuilder.LocalSocketPicker() {
                  @Override
                  public java.net.SocketAddress createSocketAddress(
                      java.net.SocketAddress remote, io.grpc.Attributes attributes) {
                    return new InetSocketAddress(from, 0);
                  }
                })
            .build();
    opened.add(channel::shutdownNow);
    ClientCall<byte[], byte[]> call = channel.newCall(Receivers.EXPORT, CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            ended.complete(status);
          }
        },
        new Metadata());
    call.request(1);
    return call;
  }

  /** Accepts payloads and answers them when the test requests it. */
  private static final class HoldingIntake implements Intake {
    private final List<Completion> held = new ArrayList<>();
    private boolean refusing;

    @Override
    public synchronized Admission offer(
        String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
      if (refusing) {
        refusing = false;
        return Admission.FULL;
      }
      held.add(completion);
      return Admission.ACCEPTED;
    }

    synchronized void refuseNext() {
      refusing = true;
    }

    synchronized int held() {
      return held.size();
    }

    void release() {
      List<Completion> all;
      synchronized (this) {
        all = List.copyOf(held);
        held.clear();
      }
      all.forEach(completion -> completion.confirmed(1, 0, ""));
    }
  }
}
