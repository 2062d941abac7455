package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;

/**
 * Receives OTLP over gRPC and over HTTP and offers the payloads to the pipeline. A request is
 * answered when the pipeline knows what became of it.
 */
public final class OtlpReceiver implements AutoCloseable {
  private static final int IO_THREADS = 2;
  private static final int MAX_CONNECTIONS = 1_024;

  private final OtlpCounters counters = new OtlpCounters();
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
   */
  public OtlpReceiver(
      OtlpConfig config, long maxBytesBeingRead, Intake intake, AnsweredRequests answered) {
    this(config, maxBytesBeingRead, intake, answered, Transport.best());
  }

  OtlpReceiver(
      OtlpConfig config,
      long maxBytesBeingRead,
      Intake pipeline,
      AnsweredRequests answered,
      Transport transport) {
    ReadBudget budget = new ReadBudget(maxBytesBeingRead);
    Intake intake =
        new RepeatJoin(
            pipeline, answered, counters.requestsJoinedAdder(), counters.requestsRepeatedAdder());
    eventLoops = transport.eventLoops(IO_THREADS);
    RequestArrays arrays = new RequestArrays();
    SpanDecoder protobuf =
        perThread(() -> new OtlpProtobufDecoder(counters.attributesLeftOutAdder()));
    SpanDecoder json = perThread(() -> new OtlpJsonDecoder(counters.attributesLeftOutAdder()));
    grpc =
        new GrpcEndpoint(
            new InetSocketAddress(config.host(), config.grpcPort()),
            config.maxRequestBytes(),
            eventLoops,
            gate(transport).guarding(transport.serverChannels()),
            budget,
            intake,
            protobuf,
            arrays,
            counters);
    http =
        new HttpEndpoint(
            new InetSocketAddress(config.host(), config.httpPort()),
            config.maxRequestBytes(),
            eventLoops,
            transport,
            gate(transport),
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

  /** What was left out or turned away. */
  public OtlpCounters counters() {
    return counters;
  }

  private ConnectionGate gate(Transport transport) {
    return new ConnectionGate(MAX_CONNECTIONS, transport.quickAck(), counters);
  }

  /** A decoder for any number of pipeline threads: each has its own. */
  private static SpanDecoder perThread(Supplier<SpanDecoder> decoders) {
    ThreadLocal<SpanDecoder> own = ThreadLocal.withInitial(decoders);
    return (payload, length, sink) -> own.get().decode(payload, length, sink);
  }
}
