package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.common.Secret;
import org.traceetl.testkit.OwnCertificate;

class GrpcTransportTest {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final List<String> bodies = new CopyOnWriteArrayList<>();
  private final List<Metadata> headers = new CopyOnWriteArrayList<>();
  private volatile byte[] answer = {};
  private volatile Status status = Status.OK;
  private volatile Metadata trailers = new Metadata();
  private Server server;

  @TempDir private Path directory;

  @AfterEach
  void stop() throws InterruptedException {
    if (server != null) {
      server.shutdownNow().awaitTermination(1, TimeUnit.MINUTES);
    }
  }

  private void start(ServerCredentials credentials) throws IOException {
    MethodDescriptor<byte[], byte[]> export =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("opentelemetry.proto.collector.metrics.v1.MetricsService/Export")
            .setRequestMarshaller(new RawMessages())
            .setResponseMarshaller(new RawMessages())
            .build();
    ServerServiceDefinition service =
        ServerServiceDefinition.builder("opentelemetry.proto.collector.metrics.v1.MetricsService")
            .addMethod(
                export,
                ServerCalls.asyncUnaryCall((request, observer) -> {
                  bodies.add(new String(request, UTF_8));
                  if (status.isOk()) {
                    observer.onNext(answer);
                    observer.onCompleted();
                  } else {
                    observer.onError(status.asException(trailers));
                  }
                }))
            .build();
    server =
        Grpc.newServerBuilderForPort(0, credentials)
            .addService(ServerInterceptors.intercept(service, new HeaderRecorder()))
            .build()
            .start();
  }

  private final class HeaderRecorder implements ServerInterceptor {
    @Override
    public <I, O> ServerCall.Listener<I> interceptCall(
        ServerCall<I, O> call, Metadata received, ServerCallHandler<I, O> next) {
      headers.add(received);
      return next.startCall(call, received);
    }
  }

  private GrpcTransport transport(String scheme, int port, PushConfig.Tls tls, Secret token) {
    return new GrpcTransport(
        new PushConfig.Endpoint(
            "default",
            URI.create(scheme + "://127.0.0.1:" + port),
            "otlp-grpc",
            "auto",
            "cumulative",
            Map.of(),
            Map.of("X-Scope-OrgID", new Secret("shop")),
            null,
            token,
            null,
            null,
            tls,
            Duration.ofSeconds(30),
            5_000,
            1),
        Clocks.SYSTEM);
  }

  private WriteTransport.Answer send() throws IOException, InterruptedException {
    try (GrpcTransport transport =
        transport("http", server.getPort(), PushConfig.Tls.DEFAULTS, null)) {
      return transport.send(Protocol.OTLP_GRPC, "abcdef".getBytes(UTF_8), 3);
    }
  }

  private static String header(Metadata of, String name) {
    return of.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
  }

  @Test
  void requestsHaveHeadersAndAuthorization() throws Exception {
    start(InsecureServerCredentials.create());
    try (GrpcTransport transport =
        transport("http", server.getPort(), PushConfig.Tls.DEFAULTS, new Secret("changeme"))) {
      assertThat(transport.send(Protocol.OTLP_GRPC, "abcdef".getBytes(UTF_8), 3).status())
          .isEqualTo(200);
    }
    assertThat(bodies).containsExactly("abc");
    Metadata received = headers.getFirst();
    assertThat(header(received, "x-scope-orgid")).isEqualTo("shop");
    assertThat(header(received, "authorization")).isEqualTo("Bearer changeme");
    assertThat(header(received, "grpc-encoding")).isEqualTo("gzip");
    assertThat(header(received, "user-agent")).startsWith("trace-etl ");
  }

  @Test
  void rejectedPointsAreReported() throws Exception {
    start(InsecureServerCredentials.create());
    answer = new byte[] {10, 7, 8, 3, 18, 3, 'o', 'l', 'd'};
    assertThat(send())
        .isEqualTo(
            new WriteTransport.Answer(
                200, WriteTransport.UNKNOWN, WriteTransport.UNKNOWN, 3, 0, "old"));
  }

  @Test
  void codesHaveTheStatusOfTheSameEffect() throws Exception {
    start(InsecureServerCredentials.create());
    Map<Code, Integer> statuses = new EnumMap<>(Code.class);
    for (Code code : Code.values()) {
      status = code.toStatus().withDescription("why");
      statuses.put(code, send().status());
    }
    assertThat(statuses)
        .containsEntry(Code.OK, 200)
        .containsEntry(Code.CANCELLED, 503)
        .containsEntry(Code.DEADLINE_EXCEEDED, 503)
        .containsEntry(Code.ABORTED, 503)
        .containsEntry(Code.OUT_OF_RANGE, 503)
        .containsEntry(Code.UNAVAILABLE, 503)
        .containsEntry(Code.DATA_LOSS, 503)
        .containsEntry(Code.RESOURCE_EXHAUSTED, 413)
        .containsEntry(Code.UNAUTHENTICATED, 401)
        .containsEntry(Code.PERMISSION_DENIED, 403)
        .containsEntry(Code.NOT_FOUND, 404)
        .containsEntry(Code.UNIMPLEMENTED, 404)
        .containsEntry(Code.UNKNOWN, 500)
        .containsEntry(Code.INTERNAL, 500)
        .containsEntry(Code.INVALID_ARGUMENT, 400)
        .containsEntry(Code.ALREADY_EXISTS, 400)
        .containsEntry(Code.FAILED_PRECONDITION, 400);
    status = Status.INVALID_ARGUMENT.withDescription("x".repeat(5_000));
    assertThat(send().text()).startsWith("INVALID_ARGUMENT: xxx").hasSize(2_048);
  }

  @Test
  void permittedRetryHasItsDelay() throws Exception {
    start(InsecureServerCredentials.create());
    status = Status.RESOURCE_EXHAUSTED;
    // google.rpc.Status{details: [Any{RetryInfo{retry_delay: {seconds: 7, nanos: 500000000}}}]}
    String any =
        "0a"
            + HexFormat.of().toHexDigits((byte) 40)
            + HexFormat.of().formatHex("type.googleapis.com/google.rpc.RetryInfo".getBytes(UTF_8))
            + "120a0a08"
            + "0807"
            + "1080cab5ee01";
    trailers.put(
        DETAILS,
        HexFormat.of()
            .parseHex("0808" + "1a" + HexFormat.of().toHexDigits((byte) (any.length() / 2)) + any));
    WriteTransport.Answer said = send();
    assertThat(said.status()).isEqualTo(429);
    assertThat(said.retryAfterMillis()).isEqualTo(7_500);
    trailers = new Metadata();
    trailers.put(DETAILS, new byte[] {8, 8, 26, 120, 10, 127, 'x'});
    assertThat(send().status()).isEqualTo(413);
  }

  @Test
  void absentReceiverIsNoAnswer() throws Exception {
    start(InsecureServerCredentials.create());
    int port = server.getPort();
    server.shutdownNow().awaitTermination(1, TimeUnit.MINUTES);
    try (GrpcTransport transport = transport("http", port, PushConfig.Tls.DEFAULTS, null)) {
      assertThatThrownBy(() -> transport.send(Protocol.OTLP_GRPC, new byte[1], 1))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("UNAVAILABLE");
    }
  }

  @Test
  void bothSidesMayShowCertificates() throws Exception {
    OwnCertificate certificate = OwnCertificate.in(directory);
    Path file = certificate.certificate();
    start(
        TlsServerCredentials.newBuilder()
            .keyManager(file.toFile(), certificate.privateKey().toFile())
            .trustManager(file.toFile())
            .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
            .build());
    try (GrpcTransport transport =
        transport(
            "https",
            server.getPort(),
            new PushConfig.Tls(file, file, certificate.privateKey()),
            null)) {
      assertThat(transport.send(Protocol.OTLP_GRPC, new byte[1], 1).status()).isEqualTo(200);
    }
    try (GrpcTransport transport =
        transport("https", server.getPort(), PushConfig.Tls.DEFAULTS, null)) {
      assertThatThrownBy(() -> transport.send(Protocol.OTLP_GRPC, new byte[1], 1))
          .isInstanceOf(IOException.class);
    }
  }
}
