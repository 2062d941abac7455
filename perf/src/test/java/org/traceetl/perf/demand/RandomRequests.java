package org.traceetl.perf.demand;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random OTLP requests. Spans repeat few names and values, so that many of them are equal. */
final class RandomRequests {
  static final List<String> APPLICATIONS = List.of("cart", "shop-1", "shop-2", "");
  static final List<String> KEYS =
      List.of("http.route", "db.system", "region", "tenant", "k8s.pod.name", "user.id", "_");
  static final long[] THRESHOLDS_NANOS = {0, 1_000_000, 50_000_000, 1_000_000_000};
  private static final List<String> NAMES =
      List.of("GET /a", "GET /items/17", "GET /items/18", "select", "n".repeat(70), "");
  private static final List<String> VALUES = List.of("a", "b", "b2", "", "v".repeat(40), "größe");
  private static final List<String> EVENTS = List.of("exception", "retry", "other");
  private static final List<String> EVENT_KEYS = List.of("exception.type", "region", "unread");

  /** Weights of a span: 1, 2, 4 and 16 are whole. */
  private static final List<String> STATES =
      List.of("", "", "", "ot=th:0", "ot=th:8", "vendor=x,ot=th:c;rv:ffffffffffffff", "ot=th:f");

  private static final long START_NANOS = 1_767_225_600_000_000_000L;
  private static final int MOST_SPANS = 60;

  private final Random random;

  RandomRequests(Random random) {
    this.random = random;
  }

  /** Returns requests in the order in which they are sent. */
  List<byte[]> next() {
    List<byte[]> requests = new ArrayList<>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
      for (int j = 1 + random.nextInt(3); j > 0; j--) {
        request.addResourceSpans(resourceSpans());
      }
      requests.add(request.build().toByteArray());
    }
    return requests;
  }

  private ResourceSpans.Builder resourceSpans() {
    Resource.Builder resource = Resource.newBuilder();
    String application = one(APPLICATIONS);
    if (!application.isEmpty()) {
      resource.addAttributes(text("service.name", application));
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      resource.addAttributes(text(one(KEYS), one(VALUES)));
    }
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    Span before = span().build();
    for (int i = random.nextInt(MOST_SPANS); i >= 0; i--) {
      // Mostly like the one before, as spans of a loop are.
      before = random.nextInt(3) > 0 ? again(before) : span().build();
      scope.addSpans(before);
    }
    return ResourceSpans.newBuilder().setResource(resource).addScopeSpans(scope);
  }

  private Span again(Span before) {
    return times(ids(before.toBuilder())).build();
  }

  private Span.Builder span() {
    Span.Builder span =
        Span.newBuilder()
            .setName(one(NAMES))
            .setKindValue(random.nextInt(6))
            .setTraceState(one(STATES));
    for (int i = random.nextInt(6); i > 0; i--) {
      span.addAttributes(attribute(one(KEYS)));
    }
    if (random.nextInt(4) == 0) {
      span.setStatus(Status.newBuilder().setCodeValue(random.nextInt(3)).setMessage(one(VALUES)));
    }
    for (int i = random.nextInt(8) - 5; i > 0; i--) {
      Span.Event.Builder event = Span.Event.newBuilder().setName(one(EVENTS));
      for (int j = random.nextInt(3); j > 0; j--) {
        event.addAttributes(text(one(EVENT_KEYS), one(VALUES)));
      }
      span.addEvents(event);
    }
    return times(ids(span));
  }

  private Span.Builder ids(Span.Builder span) {
    // One in a hundred lacks its trace ID, which agents reject.
    byte[] trace = new byte[random.nextInt(100) == 0 ? 0 : 16];
    random.nextBytes(trace);
    return span.setTraceId(ByteString.copyFrom(trace))
        .setSpanId(
            ByteString.copyFrom(
                ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong() | 1).array()));
  }

  /** Draws durations near thresholds and far from them. */
  private Span.Builder times(Span.Builder span) {
    long duration =
        random.nextInt(4) == 0
            ? Math.max(
                0,
                THRESHOLDS_NANOS[random.nextInt(THRESHOLDS_NANOS.length)] + random.nextInt(3) - 1)
            : (long) Math.exp(random.nextDouble() * Math.log(3e8));
    long start = START_NANOS + random.nextInt(1_000_000);
    return span.setStartTimeUnixNano(start).setEndTimeUnixNano(start + duration);
  }

  private KeyValue.Builder attribute(String key) {
    AnyValue.Builder value = AnyValue.newBuilder();
    switch (random.nextInt(12)) {
      case 0 -> value.setIntValue(random.nextInt(3));
      case 1 -> value.setBoolValue(random.nextBoolean());
      case 2 -> value.setDoubleValue(random.nextInt(4) / 2.0);
      case 3 ->
          value.setArrayValue(
              ArrayValue.newBuilder().addValues(AnyValue.newBuilder().setStringValue("x")));
      case 4 -> value.setBytesValue(ByteString.copyFrom(one(VALUES), UTF_8));
      default -> value.setStringValue(one(VALUES));
    }
    return KeyValue.newBuilder().setKey(key).setValue(value);
  }

  private static KeyValue.Builder text(String key, String value) {
    return KeyValue.newBuilder().setKey(key).setValue(AnyValue.newBuilder().setStringValue(value));
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }
}
