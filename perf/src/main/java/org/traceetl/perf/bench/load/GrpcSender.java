package org.traceetl.perf.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.traceetl.testkit.OwnCertificate;

/** Sends OTLP over gRPC on several connections in turn, as encoded bytes. */
public final class GrpcSender implements OtlpSender {
  /** The export of encoded requests. */
  public static final MethodDescriptor<byte[], byte[]> EXPORT =
      MethodDescriptor.newBuilder(Bytes.INSTANCE, Bytes.INSTANCE)
          .setType(MethodType.UNARY)
          .setFullMethodName("opentelemetry.proto.collector.trace.v1.TraceService/Export")
          .build();

  private final List<ManagedChannel> channels = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  public GrpcSender(int port, int connections) {
    for (int i = 0; i < connections; i++) {
      channels.add(builder(port).usePlaintext().build());
    }
  }

  /** Creates a sender with TLS that trusts the certificate. */
  public GrpcSender(int port, int connections, OwnCertificate trusted) throws SSLException {
    SslContext tls =
        GrpcSslContexts.forClient().trustManager(trusted.certificate().toFile()).build();
    for (int i = 0; i < connections; i++) {
      channels.add(builder(port).sslContext(tls).build());
    }
  }

  private static NettyChannelBuilder builder(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).disableRetry().directExecutor();
  }

  @Override
  public void send(byte[] request, Consumer<String> answered) {
    ManagedChannel channel = channels.get(Math.floorMod(next.getAndIncrement(), channels.size()));
    ClientCalls.asyncUnaryCall(
        channel.newCall(EXPORT, CallOptions.DEFAULT), request, new Answer(answered));
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private static final class Answer implements StreamObserver<byte[]> {
    private final Consumer<String> answered;
    private String rejection;

    private Answer(Consumer<String> answered) {
      this.answered = answered;
    }

    @Override
    public void onNext(byte[] response) {
      try {
        ExportTracePartialSuccess partial =
            ExportTraceServiceResponse.parseFrom(response).getPartialSuccess();
        if (partial.getRejectedSpans() != 0) {
          rejection = partial.getRejectedSpans() + " spans rejected: " + partial.getErrorMessage();
        }
      } catch (InvalidProtocolBufferException e) {
        rejection = "an answer that is no ExportTraceServiceResponse";
      }
    }

    @Override
    public void onError(Throwable failure) {
      answered.accept(failure.toString());
    }

    @Override
    public void onCompleted() {
      answered.accept(rejection);
    }
  }

  private enum Bytes implements MethodDescriptor.Marshaller<byte[]> {
    INSTANCE;

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
