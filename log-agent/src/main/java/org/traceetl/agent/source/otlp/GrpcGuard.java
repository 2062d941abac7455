package org.traceetl.agent.source.otlp;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import org.traceetl.agent.access.BearerTokens;

/** Turns calls away before they are read. */
final class GrpcGuard implements ServerInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final BearerTokens tokens;
  private final OtlpCounters counters;

  GrpcGuard(BearerTokens tokens, OtlpCounters counters) {
    this.tokens = tokens;
    this.counters = counters;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (!tokens.admit(headers.get(AUTHORIZATION))) {
      counters.requestRefused(OtlpCounters.Refusal.UNAUTHENTICATED);
      call.close(Status.UNAUTHENTICATED.withDescription(BearerTokens.REFUSED), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    return next.startCall(call, headers);
  }
}
