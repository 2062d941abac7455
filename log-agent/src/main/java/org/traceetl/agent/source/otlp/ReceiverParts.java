package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import java.util.function.LongSupplier;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.source.payload.PayloadArrays;

/**
 * The common parts of a receiver's endpoints.
 *
 * @param budget limits the bytes of incomplete requests, over all connections
 */
record ReceiverParts(
    OtlpConfig config,
    NettyTransport transport,
    EventLoopGroup eventLoops,
    Clients clients,
    BearerTokens tokens,
    ReadBudget budget,
    Intake intake,
    SpanDecoder protobuf,
    SpanDecoder json,
    PayloadArrays arrays,
    OtlpMetrics metrics,
    LongSupplier nanoClock) {
  ConnectionGate gate() {
    return new ConnectionGate(clients, transport.quickAck(), metrics, nanoClock);
  }
}
