package org.traceetl.perf.bench.overhead.app;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import java.util.concurrent.TimeUnit;

/** Creates the spans of one application's calls, with twelve attributes each. */
final class TracedCalls {
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  private static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
  private static final AttributeKey<String> SERVER = AttributeKey.stringKey("server.address");
  private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  private static final AttributeKey<String> CLIENT = AttributeKey.stringKey("client.address");
  private static final AttributeKey<String> AGENT = AttributeKey.stringKey("user_agent.original");
  private static final AttributeKey<String> PROTOCOL =
      AttributeKey.stringKey("network.protocol.version");
  private static final AttributeKey<Long> THREAD = AttributeKey.longKey("thread.id");
  private static final AttributeKey<String> THREAD_NAME = AttributeKey.stringKey("thread.name");

  private static final String[] METHODS = {"GET", "POST", "PUT", "DELETE"};
  private static final SpanKind[] KINDS = {
    SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT, SpanKind.PRODUCER, SpanKind.CONSUMER
  };

  private final Tracer tracer;
  private final String[] names = new String[CallStream.OPERATIONS];

  TracedCalls(Tracer tracer) {
    this.tracer = tracer;
  }

  /** Starts a span; the current one is its parent. */
  Span start(Call call, long nowUnixNanos) {
    return tracer
        .spanBuilder(name(call))
        .setSpanKind(KINDS[call.operation() % KINDS.length])
        .setStartTimestamp(nowUnixNanos - call.durationNanos(), TimeUnit.NANOSECONDS)
        .setAttribute(METHOD, METHODS[call.operation() % METHODS.length])
        .setAttribute(ROUTE, call.route())
        .setAttribute(PATH, call.path())
        .setAttribute(SCHEME, "https")
        .setAttribute(SERVER, call.server())
        .setAttribute(PORT, 8443L)
        .setAttribute(CLIENT, call.client())
        .setAttribute(AGENT, "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101")
        .setAttribute(PROTOCOL, "1.1")
        .setAttribute(THREAD, (long) call.thread())
        .setAttribute(THREAD_NAME, call.threadName())
        .startSpan();
  }

  /** Ends a span of {@link #start}. */
  static void end(Span span, Call call, long nowUnixNanos) {
    span.setAttribute(STATUS, call.statusCode());
    if (call.failed()) {
      span.setStatus(StatusCode.ERROR);
    } else if (call.operation() % 2 == 1) {
      span.setStatus(StatusCode.OK);
    }
    span.end(nowUnixNanos, TimeUnit.NANOSECONDS);
  }

  private String name(Call call) {
    String name = names[call.operation()];
    if (name == null) {
      name = "GET " + call.route();
      names[call.operation()] = name;
    }
    return name;
  }
}
