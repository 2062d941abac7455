package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.payload.PayloadArrays;

/**
 * Receives OTLP over gRPC and over HTTP and offers the payloads to the pipeline. A request is
 * answered when the pipeline knows what became of it.
 */
public final class OtlpReceiver implements AutoCloseable {
  private static final int IO_THREADS = 2;

  private final OtlpCounters counters = new OtlpCounters();
  private final Clients clients;
  private final Optional<PortTls> tls;
  private final BearerTokens tokens;
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
      OtlpConfig config, long maxBytesBeingRead, Intake intake, AnsweredRequests answered)
      throws IOException {
    this(config, maxBytesBeingRead, intake, answered, Transport.best());
  }

  OtlpReceiver(
      OtlpConfig config,
      long maxBytesBeingRead,
      Intake pipeline,
      AnsweredRequests answered,
      Transport transport)
      throws IOException {
    tls =
        config.tls().isPresent()
            ? Optional.of(new PortTls(config.tls().get(), InstantSource.system()))
            : Optional.empty();
    tokens = new BearerTokens(config.tokens());
    clients = new Clients(config.limits(), maxBytesBeingRead, config.maxRequestBytes(), counters);
    budget = new ReadBudget(maxBytesBeingRead);
    Intake intake =
        new RepeatJoin(
            pipeline, answered, counters.requestsJoinedAdder(), counters.requestsRepeatedAdder());
    eventLoops = transport.eventLoops(IO_THREADS);
    PayloadArrays arrays = new PayloadArrays();
    SpanDecoder protobuf =
        perThread(() -> new OtlpProtobufDecoder(counters.attributesLeftOutAdder()));
    SpanDecoder json = perThread(() -> new OtlpJsonDecoder(counters.attributesLeftOutAdder()));
    grpc =
        new GrpcEndpoint(
            new InetSocketAddress(config.host(), config.grpcPort()),
            config.maxRequestBytes(),
            config.limits().requestTimeoutMillis(),
            eventLoops,
            clients,
            gate(transport).guarding(transport.serverChannels()),
            tls,
            tokens,
            budget,
            intake,
            protobuf,
            arrays,
            counters);
    http =
        new HttpEndpoint(
            new InetSocketAddress(config.host(), config.httpPort()),
            config.maxRequestBytes(),
            config.limits().requestTimeoutMillis(),
            eventLoops,
            transport,
            gate(transport),
            tls,
            tokens,
            budget,
            intake,
            protobuf,
            json,
            arrays,
            counters);
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

  /**
   * Has connections to come use the certificates as the files have them now; those that are open
   * are not touched.
   *
   * @return true if they are others
   * @throws IOException when they would not serve; all stays as it was
   */
  public boolean reloadTls() throws IOException {
    return tls.isPresent() && tls.get().reload();
  }

  /**
   * Admits the tokens that the file has now, and no others.
   *
   * @return true if they are others
   * @throws IOException when there are none; all stays as it was
   */
  public boolean reloadTokens() throws IOException {
    return tokens.reload();
  }

  /** Senders that have a connection or bytes in flight. */
  public int clients() {
    return clients.size();
  }

  /** Bytes of requests that are not read whole; each piece of one counts for 1 KiB at least. */
  public long bytesBeingRead() {
    return budget.taken();
  }

  /** When the certificate of the ports ends, seconds since 1970; 0 without TLS. */
  public long certificateEndSeconds() {
    return tls.map(certificates -> certificates.end().getEpochSecond()).orElse(0L);
  }

  /** What was left out or turned away. */
  public OtlpCounters counters() {
    return counters;
  }

  private ConnectionGate gate(Transport transport) {
    return new ConnectionGate(clients, transport.quickAck(), counters);
  }

  /** A decoder for any number of pipeline threads: each has its own. */
  private static SpanDecoder perThread(Supplier<SpanDecoder> decoders) {
    ThreadLocal<SpanDecoder> own = ThreadLocal.withInitial(decoders);
    return (payload, length, sink) -> own.get().decode(payload, length, sink);
  }
}
