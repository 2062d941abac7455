package org.traceetl.server.canary;

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
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.TrustManager;
import org.traceetl.common.Reason;
import org.traceetl.server.features.push.RawMessages;

/** Sends by OTLP/gRPC. */
final class GrpcSender implements SpanSender {
  private static final MethodDescriptor<byte[], byte[]> EXPORT =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("opentelemetry.proto.collector.trace.v1.TraceService/Export")
          .setRequestMarshaller(new RawMessages())
          .setResponseMarshaller(new RawMessages())
          .build();

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private final BearerToken token;
  private final Duration timeout;
  private final ManagedChannel channel;

  /**
   * @param trusted null for those of the JVM
   */
  GrpcSender(URI url, BearerToken token, Duration timeout, TrustManager[] trusted) {
    this.token = token;
    this.timeout = timeout;
    boolean isTls = url.getScheme().equals("https");
    int ofScheme = isTls ? HTTPS_PORT : HTTP_PORT;
    channel =
        Grpc.newChannelBuilderForAddress(
                url.getHost(),
                url.getPort() < 0 ? ofScheme : url.getPort(),
                isTls ? tls(trusted) : InsecureChannelCredentials.create())
            .userAgent("trace-etl-canary")
            .build();
  }

  private static ChannelCredentials tls(TrustManager[] trusted) {
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    return (trusted == null ? credentials : credentials.trustManager(trusted)).build();
  }

  @Override
  public Answer send(Probe probe) throws InterruptedException {
    try {
      Metadata headers = new Metadata();
      String header = token.header();
      if (header != null) {
        headers.put(AUTHORIZATION, header);
      }
      Channel withHeaders =
          ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
      // After an outage the channel would wait longer and longer before it connects again.
      channel.resetConnectBackoff();
      CallOptions options =
          CallOptions.DEFAULT.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return Answer.accepted(
          ClientCalls.blockingUnaryCall(withHeaders, EXPORT, options, probe.body()));
    } catch (StatusRuntimeException e) {
      return Answer.failed(outcome(e), Reason.of(e));
    } catch (IOException e) {
      return Answer.failed(Outcome.REFUSED, Reason.of(e));
    }
  }

  private static Outcome outcome(StatusRuntimeException failure) {
    Status status = failure.getStatus();
    return switch (status.getCode()) {
      case INVALID_ARGUMENT,
          NOT_FOUND,
          PERMISSION_DENIED,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          UNAUTHENTICATED,
          UNIMPLEMENTED ->
          Outcome.REFUSED;
      default -> SpanSender.isNotConnected(failure) ? Outcome.REFUSED : Outcome.UNKNOWN;
    };
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
