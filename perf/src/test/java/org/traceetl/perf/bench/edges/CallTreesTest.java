package org.traceetl.perf.bench.edges;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.bench.edges.CallTrees.Phase;

final class CallTreesTest {
  private static final int TREES = 400;

  private final CallTrees calls = new CallTrees(3, TREES);

  @Test
  void expectedGraphOfTheCollectorIsThatOfItsAlgorithm() throws Exception {
    NaiveCollector collector = new NaiveCollector();
    collector.take(calls.exports(Phase.FIRST));
    collector.take(calls.exports(Phase.LATE));
    collector.expire();
    collector.take(List.of(calls.further()));
    collector.take(calls.exports(Phase.TOO_LATE));
    collector.expire();

    assertThat(collector.graph.edges()).isEqualTo(calls.expected().collectors().edges());
    assertThat(
            collector.graph.edges().stream()
                .filter(edge ->
                    !collector.graph.of(edge).equal(calls.expected().collectors().of(edge))))
        .isEmpty();
  }

  @Test
  void everyRuleHasEdgesAndOtherEdgesAreEqual() {
    Expected expected = calls.expected();
    Set<Edge> all = expected.ours().edges();

    assertThat(
            all.stream().flatMap(edge -> expected.rules(edge).stream()).collect(Collectors.toSet()))
        .containsAll(Set.of(Rule.ABSENT_END, Rule.CONSUMERS, Rule.WEIGHT, Rule.DATABASE_KEYS));
    assertThat(
            Arrays.stream(Rule.values())
                .filter(rule ->
                    expected.collectors().edges().stream()
                        .noneMatch(edge -> expected.rules(edge).contains(rule)))
                .filter(
                    rule -> all.stream().noneMatch(edge -> expected.rules(edge).contains(rule))))
        .isEmpty();
    assertThat(all)
        .filteredOn(edge -> expected.rules(edge).isEmpty())
        .isNotEmpty()
        .allMatch(edge -> expected.ours().of(edge).equal(expected.collectors().of(edge)));
    assertThat(expected.unpairedSpans()).isPositive();
  }

  /** The store of the Collector's connector: {@code store.go} and {@code connector.go}. */
  private static final class NaiveCollector {
    private static final List<String> PEERS = List.of("peer.service", "db.name", "db.system");

    private final Graph graph = new Graph();
    private final Map<ByteString, Half> open = new HashMap<>();

    private static final class Half {
      private String client;
      private String server;
      private String type;
      private String peer = "unknown";
      private boolean isRoot;
      private boolean isFailed;
      private long serverNanos;
      private long clientNanos;
    }

    private void take(List<CallTrees.Export> exports) throws Exception {
      for (CallTrees.Export export : exports) {
        ResourceSpans spans =
            ExportTraceServiceRequest.parseFrom(export.bytes()).getResourceSpans(0);
        for (KeyValue attribute : spans.getResource().getAttributesList()) {
          spans
              .getScopeSpans(0)
              .getSpansList()
              .forEach(span -> take(attribute.getValue().getStringValue(), span));
        }
      }
    }

    private void take(String service, Span span) {
      boolean isCaller =
          span.getKind() == SpanKind.SPAN_KIND_CLIENT
              || span.getKind() == SpanKind.SPAN_KIND_PRODUCER;
      boolean isMessage =
          span.getKind() == SpanKind.SPAN_KIND_PRODUCER
              || span.getKind() == SpanKind.SPAN_KIND_CONSUMER;
      ByteString id = isCaller ? span.getSpanId() : span.getParentSpanId();
      ByteString key = span.getTraceId().concat(id);
      Half half = open.computeIfAbsent(key, any -> new Half());
      half.isRoot = id.isEmpty();
      half.type = isMessage ? Edge.MESSAGE : Edge.CALL;
      half.isFailed |= span.getStatus().getCode() == StatusCode.STATUS_CODE_ERROR;
      long nanos = span.getEndTimeUnixNano() - span.getStartTimeUnixNano();
      if (isCaller) {
        half.client = service;
        half.clientNanos = nanos;
        Map<String, String> attributes =
            span.getAttributesList().stream()
                .collect(
                    Collectors.toMap(
                        KeyValue::getKey, attribute -> attribute.getValue().getStringValue()));
        PEERS.stream()
            .filter(attributes::containsKey)
            .findFirst()
            .ifPresent(peer -> half.peer = attributes.get(peer));
        if (attributes.containsKey("db.name")) {
          half.server = attributes.get("db.name");
          half.serverNanos = nanos;
          half.type = Edge.DATABASE;
        }
      } else {
        half.server = service;
        half.serverNanos = nanos;
      }
      if (half.client != null && half.server != null) {
        open.remove(key);
        count(half);
      }
    }

    private void expire() {
      open.values()
          .forEach(half -> {
            half.type = Edge.VIRTUAL;
            if (half.client == null && half.isRoot) {
              half.client = "user";
              count(half);
            } else if (half.server == null) {
              half.server = half.peer;
              count(half);
            }
          });
      open.clear();
    }

    private void count(Half half) {
      graph.add(
          new Edge(half.client, half.server, half.type),
          new Request(half.isFailed, half.serverNanos, half.clientNanos));
    }
  }
}
