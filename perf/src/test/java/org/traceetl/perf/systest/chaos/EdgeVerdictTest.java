package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class EdgeVerdictTest {
  private static final int SERVER = 2;
  private static final int CLIENT = 3;

  private final Calls calls = new Calls();

  private static SentSpan span(String id, String service, int kind, int status) {
    return new SentSpan(id.repeat(16), id.repeat(8), service, "GET /", kind, status, "a", 0, 5);
  }

  private static EdgeVerdict of(
      Map<Calls.Edge, Calls.Count> expected, Map<Calls.Edge, Calls.Count> found) {
    return EdgeVerdict.of(expected, found, Map.of(), Map.of());
  }

  private Map<Calls.Edge, Calls.Count> expected() {
    SentSpan call = span("01", "shop", CLIENT, SentSpan.ERROR);
    calls.made(call);
    calls.expect(call);
    calls.expect(span("02", "stock", SERVER, 1).answering(calls.next()));
    calls.expect(span("03", "shop", SERVER, 1));
    return calls.edges();
  }

  @Test
  void requestsOfAnEdgeAreThoseOfItsServersSpans() {
    Map<Calls.Edge, Calls.Count> expected = expected();

    assertThat(expected)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                new Calls.Edge("shop", "stock"),
                new Calls.Count(1, 1),
                new Calls.Edge(Calls.USER, "shop"),
                new Calls.Count(1, 0)));
    assertThat(of(expected, expected).isExact()).isTrue();
  }

  @Test
  void missingAndAdditionalRequestsDoNotCancelOut() {
    Map<Calls.Edge, Calls.Count> found = new TreeMap<>();
    found.put(new Calls.Edge(Calls.USER, "shop"), new Calls.Count(3, 0));

    EdgeVerdict verdict = of(expected(), found);

    assertThat(verdict.isExact()).isFalse();
    assertThat(verdict.line()).isEqualTo("edges_lost=1 edges_doubled=2 edges_moved=0 requests=2");
    assertThat(verdict.differences()).hasSize(2);
  }

  @Test
  void aWrongNumberOfFailedRequestsIsADifference() {
    Map<Calls.Edge, Calls.Count> found = new TreeMap<>(expected());
    found.put(new Calls.Edge("shop", "stock"), new Calls.Count(1, 0));

    assertThat(of(calls.edges(), found).line())
        .isEqualTo("edges_lost=1 edges_doubled=0 edges_moved=0 requests=2");
  }

  @Test
  void aRequestThatMovedMustBeCountedAsMoved() {
    Map<Calls.Edge, Calls.Count> found = new TreeMap<>(expected());
    found.remove(new Calls.Edge("shop", "stock"));

    assertThat(EdgeVerdict.of(calls.edges(), found, Map.of(), Map.of("stock", 1L)).line())
        .isEqualTo("edges_lost=0 edges_doubled=0 edges_moved=1 requests=2");
    assertThat(EdgeVerdict.of(calls.edges(), found, Map.of(), Map.of("stock", 2L)).line())
        .isEqualTo("edges_lost=0 edges_doubled=1 edges_moved=1 requests=2");
    assertThat(EdgeVerdict.of(calls.edges(), found, Map.of(), Map.of()).line())
        .isEqualTo("edges_lost=1 edges_doubled=0 edges_moved=0 requests=2");
    assertThat(EdgeVerdict.of(calls.edges(), found, Map.of("stock", 1L), Map.of()).line())
        .isEqualTo("edges_lost=1 edges_doubled=0 edges_moved=0 requests=2");
  }
}
