package org.traceetl.agent.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.flow.TestAttributes.add;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.SpanView;

/** Tests that the classification of spans allocates nothing. */
final class EdgeRulesAllocationTest {
  private static final int SPANS = 200_000;
  private static final int KINDS = 6;
  // For the measurement itself.
  private static final int MOST_BYTES = 4_096;

  private final SpanView[] spans = new SpanView[2 * KINDS];
  private final HalfEdge half = new HalfEdge();

  @Test
  void spansAreClassifiedWithoutAllocation() {
    for (int i = 0; i < spans.length; i++) {
      SpanView span = new SpanView();
      span.kind = i % KINDS;
      span.traceIdLow = 1;
      span.spanId = 2;
      span.parentSpanId = i < KINDS ? 3 : 0;
      add(span.attributes, "http.request.method", "GET");
      add(span.attributes, "url.full", "http://shop:8080/");
      add(span.attributes, "server.address", "a".repeat(2 * HalfEdge.MAX_PEER_BYTES));
      add(span.attributes, i < KINDS ? "db.namespace" : "net.peer.name", "15");
      spans[i] = span;
    }
    run();

    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    int halves = run();
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(halves).isBetween(SPANS * 6 / 10, SPANS * 7 / 10);
    assertThat(allocated).isLessThan(MOST_BYTES);
  }

  private int run() {
    int halves = 0;
    for (int i = 0; i < SPANS; i++) {
      SpanView span = spans[i % spans.length];
      if (EdgeRules.classify(span, span.attributes, half)) {
        halves++;
      }
    }
    return halves;
  }
}
