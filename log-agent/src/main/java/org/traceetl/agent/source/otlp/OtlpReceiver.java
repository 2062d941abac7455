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
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.http.PortAccess;
import org.traceetl.agent.http.RotatingTls;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.common.Clocks;

/**
 * Receives OTLP over gRPC and over HTTP and offers the payloads to the pipeline. A request is
 * answered when the pipeline knows what became of it.
 */
public final class OtlpReceiver implements AutoCloseable {
  private static final int IO_THREADS = 2;

  private final OtlpCounters counters = new OtlpCounters();
  private final Clients clients;
  private final PortAccess access;
  private final ReadBudget budget;
  private final EventLoopGroup eventLoops;
  private final GrpcEndpoint grpc;
  private final HttpEndpoint http;

  /**
   * A receiver that does not listen yet. The configuration must be one that is enabled.
   *
   * @param maxBytesBeingRead bytes of requests that are not yet read whole, over all connections;
   *     above it senders are told to come back
   * @param answered the requests answered of late, also by an earlier run; a repeat of one of them
   *     is answered the same
   * @throws IOException when the certificates or tokens would not serve
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
    clients = new Clients(config.limits(), maxBytesBeingRead, config.maxRequestBytes(), counters);
    budget = new ReadBudget(maxBytesBeingRead);
    Intake intake =
        new RepeatJoin(
            pipeline, answered, counters.requestsJoinedAdder(), counters.requestsRepeatedAdder());
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
            perThread(() -> new OtlpProtobufDecoder(counters.attributesLeftOutAdder())),
            perThread(() -> new OtlpJsonDecoder(counters.attributesLeftOutAdder())),
            new PayloadArrays(),
            counters,
            clocks.nanoClock());
    grpc = new GrpcEndpoint(parts, access.hasTls() ? Optional.of(grpcTls) : Optional.empty());
    http = new HttpEndpoint(parts, access.hasTls() ? Optional.of(httpTls) : Optional.empty());
  }

  /**
   * Opens both ports.
   *
   * @throws IOException when one of them cannot be opened; the other one is closed again
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

  /** Takes no further connections; what was accepted is still answered. */
  public void stopAccepting() {
    grpc.stopAccepting();
    http.stopAccepting();
  }

  /** Ends the connections. To be called when the pipeline has answered what it accepted. */
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

  /** The port that gRPC is received on, after {@link #start}. */
  public int grpcPort() {
    return grpc.port();
  }

  /** The port that HTTP is received on, after {@link #start}. */
  public int httpPort() {
    return http.port();
  }

  /** The certificates and tokens of both ports. */
  public PortAccess access() {
    return access;
  }

  /** Senders that have a connection or bytes in flight. */
  public int clients() {
    return clients.size();
  }

  /** Bytes of requests that are not read whole; each piece of one counts for 1 KiB at least. */
  public long bytesBeingRead() {
    return budget.taken();
  }

  /** What was left out or turned away. */
  public OtlpCounters counters() {
    return counters;
  }

  /** A decoder for any number of pipeline threads: each has its own. */
  private static SpanDecoder perThread(Supplier<SpanDecoder> decoders) {
    ThreadLocal<SpanDecoder> own = ThreadLocal.withInitial(decoders);
    return (payload, length, sink) -> own.get().decode(payload, length, sink);
  }
}
