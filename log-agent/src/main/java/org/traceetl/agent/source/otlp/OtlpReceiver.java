package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.http.PortAccess;
import org.traceetl.agent.http.RotatingTls;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.common.Clocks;

/**
 * Receives OTLP over gRPC and HTTP and offers the payloads to the pipeline. A request is answered
 * when the pipeline reports its outcome.
 */
public final class OtlpReceiver implements AutoCloseable {
  private static final int IO_THREADS = 2;

  private final OtlpMetrics metrics = new OtlpMetrics();
  private final Clients clients;
  private final PortAccess access;
  private final ReadBudget budget;
  private final EventLoopGroup eventLoops;
  private final GrpcEndpoint grpc;
  private final HttpEndpoint http;

  /**
   * Creates a receiver that does not listen yet. The configuration must be enabled.
   *
   * @param maxBytesBeingRead limit of the bytes of incomplete requests, over all connections; above
   *     it, senders are asked to retry
   * @param answered the recently answered requests, also of an earlier run; a repeat gets the same
   *     answer
   * @throws IOException if the certificates or tokens are not valid
   */
  public OtlpReceiver(
      OtlpConfig config,
      long maxBytesBeingRead,
      Intake intake,
      AnsweredRequests answered,
      Clocks clocks)
      throws IOException {
    this(config, maxBytesBeingRead, intake, answered, clocks, NettyTransport.best());
  }

  OtlpReceiver(
      OtlpConfig config,
      long maxBytesBeingRead,
      Intake pipeline,
      AnsweredRequests answered,
      Clocks clocks,
      NettyTransport transport)
      throws IOException {
    RotatingTls grpcTls = new RotatingTls();
    RotatingTls httpTls = new RotatingTls();
    access =
        new PortAccess(
            config.tls(),
            config.tokens(),
            clocks.wall(),
            material -> {
              // The gRPC context adds the negotiation of HTTP/2.
              SslContext nextGrpc =
                  GrpcSslContexts.configure(RotatingTls.builder(material)).build();
              httpTls.use(RotatingTls.builder(material).build());
              grpcTls.use(nextGrpc);
            });
    clients = new Clients(config.limits(), maxBytesBeingRead, config.maxRequestBytes(), metrics);
    budget = new ReadBudget(maxBytesBeingRead);
    Intake intake =
        new RepeatJoin(pipeline, answered, metrics.requestsJoined, metrics.requestsRepeated);
    eventLoops = transport.eventLoops("otlp-io", IO_THREADS);
    ReceiverParts parts =
        new ReceiverParts(
            config,
            transport,
            eventLoops,
            clients,
            access.tokens(),
            budget,
            intake,
            new PerThread(
                OtlpFormat.PROTOBUF, () -> new OtlpProtobufDecoder(metrics.attributesLeftOut)),
            new PerThread(OtlpFormat.JSON, () -> new OtlpJsonDecoder(metrics.attributesLeftOut)),
            new PayloadArrays(),
            metrics,
            clocks.nanoClock());
    grpc = new GrpcEndpoint(parts, access.hasTls() ? Optional.of(grpcTls) : Optional.empty());
    http = new HttpEndpoint(parts, access.hasTls() ? Optional.of(httpTls) : Optional.empty());
    metrics.gauge(
        "otlp_certificate_end_timestamp_seconds",
        "Expiry of the OTLP ports' certificate as Unix time; 0 without TLS.",
        access::certificateEndSeconds);
    metrics.gauge(
        "otlp_reading_bytes",
        "Bytes of incomplete requests; each piece counts as at least 1 KiB.",
        budget::taken);
    metrics.gauge(
        "otlp_clients",
        "Sender addresses with a connection or with bytes in flight.",
        clients::size);
  }

  /**
   * Opens both ports.
   *
   * @throws IOException if a port cannot be opened; the other one is closed again
   */
  public void start() throws IOException {
    try {
      grpc.start();
      http.start();
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Stops accepting connections; accepted requests are still answered. */
  public void stopAccepting() {
    grpc.stopAccepting();
    http.stopAccepting();
  }

  /** Closes the connections. Call this when the pipeline has answered all accepted payloads. */
  @Override
  public void close() {
    try {
      grpc.close();
      http.close();
      eventLoops.shutdownGracefully(0, 2, TimeUnit.SECONDS).await(4, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the gRPC port, after {@link #start}. */
  public int grpcPort() {
    return grpc.port();
  }

  /** Returns the HTTP port, after {@link #start}. */
  public int httpPort() {
    return http.port();
  }

  /** Returns the certificates and tokens of both ports. */
  public PortAccess access() {
    return access;
  }

  /** Returns the number of senders that have a connection or bytes in flight. */
  int clients() {
    return clients.size();
  }

  /** Returns the bytes of incomplete requests; each piece counts for at least 1 KiB. */
  long bytesBeingRead() {
    return budget.taken();
  }

  public OtlpMetrics metrics() {
    return metrics;
  }

  /** Gives each pipeline thread a decoder of its own. */
  private record PerThread(OtlpFormat otlpFormat, ThreadLocal<SpanDecoder> own)
      implements SpanDecoder {
    PerThread(OtlpFormat format, Supplier<SpanDecoder> decoders) {
      this(format, ThreadLocal.withInitial(decoders));
    }

    @Override
    public void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException {
      own.get().decode(payload, length, sink);
    }
  }
}
