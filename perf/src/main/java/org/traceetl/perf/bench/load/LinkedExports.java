package org.traceetl.perf.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * Requests as {@link ExportLoad#realisticRequests} creates them, but the spans call each other:
 * each CLIENT has a SERVER, and each PRODUCER a CONSUMER, of one of three other applications,
 * mostly in another request. Callers for which none is left become INTERNAL. Servers and consumers
 * that are left have no parent.
 */
public final class LinkedExports {
  private static final String SERVICE_NAME = "service.name";
  private static final int CALLEES = 3;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final List<RenumberedExport> exports = new ArrayList<>();

  // By the number of a span in all requests.
  private final List<SpanKind> kinds = new ArrayList<>();
  private final List<Integer> applications = new ArrayList<>();

  /** By span, the one that calls it. */
  private final Map<Integer, Integer> callers = new HashMap<>();

  /** By application and kind, the spans that no span calls yet. */
  private final Map<Integer, Map<SpanKind, Queue<Integer>>> free = new HashMap<>();

  private int callees;

  /**
   * @param count the number of requests
   */
  public LinkedExports(int count) {
    List<byte[]> requests = ExportLoad.realistic(count, SpanStream.FAILED_PERCENT);
    requests.forEach(request -> read(parse(request)));
    for (int span = 0; span < kinds.size(); span++) {
      link(span);
    }
    int number = 0;
    for (byte[] request : requests) {
      ExportTraceServiceRequest.Builder export = parse(request);
      for (Span.Builder span : spans(export)) {
        rewrite(span, number++);
      }
      exports.add(new RenumberedExport(export.build().toByteArray(), true));
    }
  }

  /** Returns requests of CLIENT spans without servers. */
  public static List<RenumberedExport> unanswered(int count) {
    return ExportLoad.realistic(count, SpanStream.FAILED_PERCENT).stream()
        .map(request -> {
          ExportTraceServiceRequest.Builder export = parse(request);
          spans(export).forEach(span -> span.setKind(SpanKind.SPAN_KIND_CLIENT));
          return new RenumberedExport(export.build().toByteArray(), true);
        })
        .toList();
  }

  List<RenumberedExport> exports() {
    return exports;
  }

  /** Returns the requests of the service graph, for each span. */
  public double requestsPerSpan() {
    return (double) callees / kinds.size();
  }

  /** Returns the half-edges of a span, on average. */
  public double halvesPerSpan() {
    return (double) (callees + callers.size()) / kinds.size();
  }

  private void read(ExportTraceServiceRequest.Builder export) {
    int application = application(export.getResourceSpans(0));
    for (Span.Builder span : spans(export)) {
      if (isCallee(span.getKind())) {
        callees++;
        free(application, span.getKind()).add(kinds.size());
      }
      kinds.add(span.getKind());
      applications.add(application);
    }
  }

  private Queue<Integer> free(int application, SpanKind kind) {
    return free.computeIfAbsent(application, any -> new HashMap<>())
        .computeIfAbsent(kind, any -> new ArrayDeque<>());
  }

  /** Finds a callee for a caller. */
  private void link(int span) {
    SpanKind sought = calleeOf(kinds.get(span));
    for (int i = 0; sought != null && i < CALLEES; i++) {
      int distance = 1 + (span + i) % CALLEES;
      int callee = (applications.get(span) + distance) % ExportLoad.APPLICATIONS;
      Integer found = free(callee, sought).poll();
      if (found != null) {
        callers.put(found, span);
        return;
      }
    }
    if (sought != null) {
      kinds.set(span, SpanKind.SPAN_KIND_INTERNAL);
    }
  }

  private static SpanKind calleeOf(SpanKind caller) {
    return switch (caller) {
      case SPAN_KIND_CLIENT -> SpanKind.SPAN_KIND_SERVER;
      case SPAN_KIND_PRODUCER -> SpanKind.SPAN_KIND_CONSUMER;
      default -> null;
    };
  }

  private static boolean isCallee(SpanKind kind) {
    return kind == SpanKind.SPAN_KIND_SERVER || kind == SpanKind.SPAN_KIND_CONSUMER;
  }

  private void rewrite(Span.Builder span, int number) {
    SpanKind kind = kinds.get(number);
    span.setKind(kind);
    if (calleeOf(kind) != null) {
      span.setTraceId(traceId(number)).setSpanId(spanId(number));
    } else if (callers.containsKey(number)) {
      int caller = callers.get(number);
      span.setTraceId(traceId(caller)).setParentSpanId(spanId(caller));
    } else if (isCallee(kind)) {
      span.clearParentSpanId();
    }
  }

  private static ByteString traceId(int caller) {
    return OtlpExport.id(0, MIX * (caller + 1));
  }

  private static ByteString spanId(int caller) {
    return OtlpExport.id(~(MIX * (caller + 1)));
  }

  private static int application(ResourceSpans spans) {
    String name =
        spans.getResource().getAttributesList().stream()
            .filter(attribute -> attribute.getKey().equals(SERVICE_NAME))
            .findFirst()
            .orElseThrow()
            .getValue()
            .getStringValue();
    return Integer.parseInt(name.replaceAll("\\D", ""));
  }

  private static List<Span.Builder> spans(ExportTraceServiceRequest.Builder export) {
    return export.getResourceSpansBuilder(0).getScopeSpansBuilder(0).getSpansBuilderList();
  }

  private static ExportTraceServiceRequest.Builder parse(byte[] request) {
    try {
      return ExportTraceServiceRequest.newBuilder().mergeFrom(request);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("not an OTLP trace request", e);
    }
  }
}
