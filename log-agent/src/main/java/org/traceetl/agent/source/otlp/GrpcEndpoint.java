package org.traceetl.agent.source.otlp;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.source.payload.PayloadArrays;

/** {@code TraceService/Export} over gRPC. Requests stay encoded. */
final class GrpcEndpoint {
  static final String SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";
  private static final String SOURCE = "otlp_grpc";
  private static final int MAX_CALLS_PER_CONNECTION = 16;

  // These loggers write stack traces that any sender can cause at any rate. This one: requests that
  // are too large or too many; these are counted.
  private static final Logger STREAM_LOG =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerStream");
  // This one: connections that do not speak HTTP/2, such as the HTTP/1 probe of a load balancer.
  private static final Logger CONNECTION_LOG =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerTransport.connections");

  // Placeholders for requests that could not be read; compared by identity.
  private static final Request TOO_LARGE = new Request(new byte[0], 0);
  private static final Request NO_ROOM = new Request(new byte[0], 0);
  private static final Request NOT_GZIP = new Request(new byte[0], 0);

  private final int maxRequestBytes;
  private final Intake intake;
  private final SpanDecoder decoder;
  private final OtlpMetrics metrics;
  private final PayloadArrays arrays;
  private final InetSocketAddress address;
  private final Server server;
  private final Supplier<Future<?>> lookForLateCalls;
  private Future<?> lookingForLateCalls;

  GrpcEndpoint(ReceiverParts parts, Optional<? extends SslContext> tls) {
    STREAM_LOG.setLevel(Level.OFF);
    CONNECTION_LOG.setLevel(Level.OFF);
    this.maxRequestBytes = parts.config().maxRequestBytes();
    this.intake = parts.intake();
    this.decoder = parts.protobuf();
    this.arrays = parts.arrays();
    this.metrics = parts.metrics();
    int requestTimeoutMillis = parts.config().limits().requestTimeoutMillis();
    EventLoopGroup eventLoops = parts.eventLoops();
    MethodDescriptor<Request, byte[]> export =
        MethodDescriptor.newBuilder(new Requests(), new Answer())
            .setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Export"))
            .build();
    GrpcGuard guard =
        new GrpcGuard(
            parts.tokens(),
            GrpcReadBudget::admit,
            requestTimeoutMillis,
            parts.nanoClock(),
            metrics);
    lookForLateCalls =
        () ->
            eventLoops
                .next()
                .scheduleWithFixedDelay(
                    guard::endLate,
                    requestTimeoutMillis / 2,
                    requestTimeoutMillis / 2,
                    TimeUnit.MILLISECONDS);
    address = new InetSocketAddress(parts.config().host(), parts.config().grpcPort());
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(address)
            .channelFactory(parts.gate().guarding(parts.transport().serverChannels()))
            .bossEventLoopGroup(eventLoops)
            .workerEventLoopGroup(eventLoops)
            // Offering a payload to the pipeline never blocks.
            .directExecutor()
            .maxInboundMessageSize(maxRequestBytes)
            .maxConcurrentCallsPerConnection(MAX_CALLS_PER_CONNECTION)
            .addStreamTracerFactory(new GrpcReadBudget(parts.budget(), parts.clients(), metrics))
            .maxConnectionIdle(10, TimeUnit.MINUTES)
            .handshakeTimeout(10, TimeUnit.SECONDS)
            .permitKeepAliveTime(5, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .intercept(guard)
            .addService(
                ServerServiceDefinition.builder(SERVICE)
                    .addMethod(export, ServerCalls.asyncUnaryCall(this::export))
                    .build());
    tls.ifPresent(builder::sslContext);
    server = builder.build();
  }

  void start() throws IOException {
    try {
      server.start();
    } catch (IOException e) {
      throw NettyTransport.cannotListen(
          "otlp.grpc-port",
          address.getPort(),
          address.getHostString(),
          e.getCause() == null ? e : e.getCause());
    }
    lookingForLateCalls = lookForLateCalls.get();
  }

  int port() {
    return server.getPort();
  }

  /** Stops accepting connections and calls; calls in progress are answered. */
  void stopAccepting() {
    server.shutdown();
  }

  /** Waits briefly for calls in progress, then cancels them. */
  void close() throws InterruptedException {
    if (lookingForLateCalls != null) {
      lookingForLateCalls.cancel(false);
    }
    server.shutdown();
    if (!server.awaitTermination(2, TimeUnit.SECONDS)) {
      server.shutdownNow();
      server.awaitTermination(2, TimeUnit.SECONDS);
    }
  }

  private void export(Request request, StreamObserver<byte[]> observer) {
    ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) observer;
    // With a handler, gRPC drops an answer to a disconnected sender instead of throwing.
    call.setOnCancelHandler(() -> {});
    if (request == TOO_LARGE) {
      metrics.requestRefused(OtlpMetrics.Refusal.TOO_LARGE);
      call.onError(
          OtlpResponses.error(
              Status.RESOURCE_EXHAUSTED.withDescription(OtlpResponses.tooLarge(maxRequestBytes)),
              0));
      return;
    }
    if (request == NOT_GZIP) {
      metrics.requestRefused(OtlpMetrics.Refusal.MALFORMED);
      call.onError(
          OtlpResponses.error(
              Status.INVALID_ARGUMENT.withDescription("the message is not valid gzip"), 0));
      return;
    }
    if (request == NO_ROOM) {
      call.onError(OtlpResponses.error(Status.UNAVAILABLE.withDescription(GrpcGuard.NO_ROOM), 0));
      return;
    }
    Call export = new Call(call, arrays, GrpcReadBudget.handOver());
    SpanDecoder sent = new SentPayload(decoder, export.taken.client().address());
    Refused refused = Refused.of(intake.offer(SOURCE, request.array, request.length, sent, export));
    if (refused != null) {
      arrays.give(request.array);
      export.taken.giveBack();
      call.onError(OtlpResponses.error(refused.status(), refused.retrySeconds()));
    }
  }

  /** The request is {@code array[0, length)}. */
  private record Request(byte[] array, int length) {}

  private record Call(
      StreamObserver<byte[]> observer, PayloadArrays arrays, GrpcReadBudget.Taken taken)
      implements Completion {
    @Override
    public void released(byte[] payload) {
      arrays.give(payload);
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      taken.giveBack();
      observer.onNext(OtlpResponses.exported(rejected, reason));
      observer.onCompleted();
    }

    @Override
    public void malformed(String reason) {
      taken.giveBack();
      observer.onError(OtlpResponses.error(Status.INVALID_ARGUMENT.withDescription(reason), 0));
    }

    @Override
    public void failed(String reason) {
      taken.giveBack();
      Refused refused = Refused.failed(reason);
      observer.onError(OtlpResponses.error(refused.status(), refused.retrySeconds()));
    }
  }

  /** Passes requests as encoded bytes. */
  private final class Requests implements MethodDescriptor.Marshaller<Request> {
    @Override
    public InputStream stream(Request value) {
      return new ByteArrayInputStream(value.array, 0, value.length);
    }

    @Override
    public Request parse(InputStream stream) {
      try {
        // Compressed messages do not declare their length; grpc-java enforces the limit.
        return stream instanceof KnownLength ? readKnown(stream) : readAll(stream);
      } catch (StatusRuntimeException e) {
        // The message exceeded the size limit or the budget during decompression.
        return e.getStatus().getCode() == Status.Code.UNAVAILABLE ? NO_ROOM : TOO_LARGE;
      } catch (IOException e) {
        return NOT_GZIP;
      }
    }

    /** Reads into one array; the stream's own method collects pieces, at twice the cost. */
    private Request readKnown(InputStream stream) throws IOException {
      int length = stream.available();
      byte[] array = arrays.take(length);
      return new Request(array, stream.readNBytes(array, 0, length));
    }

    private static Request readAll(InputStream stream) throws IOException {
      byte[] bytes = stream.readAllBytes();
      return new Request(bytes, bytes.length);
    }
  }

  /** Passes answers as encoded bytes. */
  private static final class Answer implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new EncodedAnswer(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      throw new UnsupportedOperationException("answers are only written");
    }
  }

  /** Writes itself; gRPC copies any other stream through a new array of 8 KiB. */
  private static final class EncodedAnswer extends ByteArrayInputStream implements Drainable {
    EncodedAnswer(byte[] answer) {
      super(answer);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      return (int) transferTo(target);
    }
  }
}
