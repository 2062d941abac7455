package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.access.TokenSource;

final class GrpcGuardTest {
  private final AtomicLong nanos = new AtomicLong();
  private final OtlpMetrics metrics = new OtlpMetrics();
  private final List<ExportTraceServiceRequest> handled = new ArrayList<>();

  @Test
  void aCallThatIsClosedAlreadyDoesNotKeepOthersFromBeingEnded() throws Exception {
    GrpcGuard guard =
        new GrpcGuard(new BearerTokens(TokenSource.none()), () -> true, 1, nanos::get, metrics);
    List<Call> calls = List.of(new Call(), new Call(), new Call());
    calls.forEach(call -> intercept(guard, call));
    // The handler does this at the second message of a call that may have only one.
    calls.get(1).close(Status.INTERNAL, new Metadata());

    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
    guard.endLate();

    assertThat(calls)
        .extracting(call -> call.closed.getCode())
        .containsExactly(Status.Code.UNAVAILABLE, Status.Code.INTERNAL, Status.Code.UNAVAILABLE);
    assertThat(metrics.requestsRefused(OtlpMetrics.Refusal.TIMEOUT)).isEqualTo(2);
  }

  @Test
  void whatComesAfterTheEndOfACallIsNotHandled() throws Exception {
    GrpcGuard guard =
        new GrpcGuard(new BearerTokens(TokenSource.none()), () -> true, 1, nanos::get, metrics);
    ServerCall.Listener<ExportTraceServiceRequest> listener = intercept(guard, new Call());
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
    guard.endLate();

    listener.onMessage(ExportTraceServiceRequest.getDefaultInstance());

    assertThat(handled).isEmpty();
  }

  private ServerCall.Listener<ExportTraceServiceRequest> intercept(GrpcGuard guard, Call call) {
    return guard.interceptCall(
        call,
        new Metadata(),
        (ServerCall<ExportTraceServiceRequest, ExportTraceServiceResponse> c, Metadata headers) ->
            new ServerCall.Listener<>() {
              @Override
              public void onMessage(ExportTraceServiceRequest message) {
                handled.add(message);
              }
            });
  }

  /** Can be closed once, like a real call. */
  private static final class Call
      extends ServerCall<ExportTraceServiceRequest, ExportTraceServiceResponse> {
    private Status closed;

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(ExportTraceServiceResponse message) {}

    @Override
    public void close(Status status, Metadata trailers) {
      if (closed != null) {
        throw new IllegalStateException("call already closed");
      }
      closed = status;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<ExportTraceServiceRequest, ExportTraceServiceResponse>
        getMethodDescriptor() {
      return TraceServiceGrpc.getExportMethod();
    }
  }
}
