package org.traceetl.server.features.push;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.traceetl.common.Clocks;

/** Requests by OTLP/gRPC. An answer has the HTTP status with which the sender does the same. */
final class GrpcTransport implements WriteTransport {
  private static final MethodDescriptor<byte[], byte[]> EXPORT =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("opentelemetry.proto.collector.metrics.v1.MetricsService/Export")
          .setRequestMarshaller(new RawMessages())
          .setResponseMarshaller(new RawMessages())
          .build();

  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private static final int MAX_ANSWER_BYTES = 64 * 1024;
  private static final int MAX_TEXT = 2_048;

  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY = 429;
  private static final int FAILED = 500;
  private static final int UNAVAILABLE = 503;

  private final PushConfig.Endpoint config;
  private final ManagedChannel channel;

  /** Requests tokens of OAuth 2. */
  private final HttpClient tokenClient;

  private final Authorization authorization;

  /**
   * @throws org.traceetl.common.ConfigException if a certificate cannot be read
   */
  GrpcTransport(PushConfig.Endpoint config, Clocks clocks) {
    this.config = config;
    URI url = config.url();
    boolean isTls = "https".equals(url.getScheme());
    int ofScheme = isTls ? HTTPS_PORT : HTTP_PORT;
    channel =
        Grpc.newChannelBuilderForAddress(
                url.getHost(),
                url.getPort() < 0 ? ofScheme : url.getPort(),
                isTls ? certificates(config.tls()) : InsecureChannelCredentials.create())
            .userAgent("trace-etl")
            .maxInboundMessageSize(MAX_ANSWER_BYTES)
            .build();
    tokenClient = HttpTransport.client(config);
    authorization = Authorization.of(config, tokenClient, clocks);
  }

  private static ChannelCredentials certificates(PushConfig.Tls tls) {
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    TrustManager[] trusted = ClientTls.trusted(tls);
    if (trusted != null) {
      credentials.trustManager(trusted);
    }
    KeyManager[] keys = ClientTls.keys(tls);
    if (keys != null) {
      credentials.keyManager(keys);
    }
    return credentials.build();
  }

  @Override
  public Answer send(Protocol protocol, byte[] body, int length)
      throws IOException, InterruptedException {
    // Compressed by the library, whose frames say so.
    CallOptions options =
        CallOptions.DEFAULT
            .withDeadlineAfter(config.timeout().toNanos(), TimeUnit.NANOSECONDS)
            .withCompression(protocol.contentEncoding);
    Channel withHeaders =
        ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers()));
    ListenableFuture<byte[]> answer =
        ClientCalls.futureUnaryCall(
            withHeaders.newCall(EXPORT, options), Arrays.copyOf(body, length));
    try {
      OtlpAnswer said = OtlpAnswer.read(answer.get());
      return new Answer(OK, UNKNOWN, UNKNOWN, said.rejected(), 0, said.message());
    } catch (ExecutionException e) {
      return refusal(e.getCause());
    } finally {
      answer.cancel(true);
    }
  }

  private Metadata headers() throws IOException, InterruptedException {
    Metadata headers = new Metadata();
    config.headers().forEach((name, value) -> headers.put(key(name), value.value()));
    String header = authorization.header();
    if (header != null) {
      headers.put(key("Authorization"), header);
    }
    return headers;
  }

  private static Metadata.Key<String> key(String header) {
    return Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER);
  }

  private Answer refusal(Throwable failure) throws IOException {
    Status status = Status.fromThrowable(failure);
    if (!(failure instanceof StatusRuntimeException) || status.getCause() != null) {
      // Of this side: the receiver did not answer.
      throw new IOException(status.getCode() + ": " + status.getDescription(), failure);
    }
    Metadata trailers = Status.trailersFromThrowable(failure);
    byte[] details = trailers == null ? null : trailers.get(DETAILS);
    RetryInfo retry = details == null ? RetryInfo.NONE : RetryInfo.read(details);
    if (status.getCode() == Status.Code.UNAUTHENTICATED) {
      authorization.refused();
    }
    String description = status.getDescription() == null ? "" : status.getDescription();
    String text = status.getCode() + (description.isEmpty() ? "" : ": " + description);
    return new Answer(
        httpStatus(status.getCode(), retry.permits()),
        UNKNOWN,
        UNKNOWN,
        0,
        retry.delayMillis(),
        text.substring(0, Math.min(text.length(), MAX_TEXT)));
  }

  /**
   * Follows the OTLP specification, "OTLP/gRPC response": which codes may be sent again. As with
   * status 500 of HTTP, a request is also sent again after a code that says nothing about it.
   */
  private static int httpStatus(Status.Code code, boolean permitsRetry) {
    return switch (code) {
      case OK -> OK;
      case CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS ->
          UNAVAILABLE;
      // Without permission it is most often a message above the receiver's limit.
      case RESOURCE_EXHAUSTED -> permitsRetry ? TOO_MANY : TOO_LARGE;
      case UNAUTHENTICATED -> UNAUTHORIZED;
      case PERMISSION_DENIED -> FORBIDDEN;
      case NOT_FOUND, UNIMPLEMENTED -> NOT_FOUND;
      case UNKNOWN, INTERNAL -> FAILED;
      case INVALID_ARGUMENT, ALREADY_EXISTS, FAILED_PRECONDITION -> BAD_REQUEST;
    };
  }

  @Override
  public void close() {
    channel.shutdownNow();
    tokenClient.shutdownNow();
  }
}
