package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class VerdictTest {
  private static final SentSpan ORDINARY = span("01", "GET /items", 2, 1, 5_000_000);
  private static final SentSpan FAILED = span("02", "GET /items", 2, 2, 7_000_000);
  private static final SentSpan SLOW = span("03", "GET prices", 3, 0, 1_000_000_000);

  private final Truth truth = new Truth();
  private final Map<SeriesKey, Double> calls = new TreeMap<>();
  private final Map<SeriesKey, Double> counts = new TreeMap<>();
  private final Map<SeriesKey, Double> sums = new TreeMap<>();
  private final Map<SeriesKey, Double> resets = new TreeMap<>();
  private final Map<String, Integer> documents = new HashMap<>();

  VerdictTest() {
    truth.add(List.of(ORDINARY, FAILED, SLOW, SLOW));
    truth
        .series()
        .forEach((series, total) -> {
          calls.put(series, (double) total.spans());
          counts.put(series, (double) total.spans());
          sums.put(series, total.nanos() / 1e6);
        });
    truth.documents().forEach(id -> documents.put(id, 1));
  }

  private static SentSpan span(String id, String name, int kind, int status, long nanos) {
    return new SentSpan(id.repeat(16), id.repeat(8), "shop", name, kind, status, "a", 0, nanos);
  }

  private Verdict verdict() {
    return Verdict.of(truth, new Verdict.Found(calls, counts, sums, resets, documents));
  }

  @Test
  void equalCountsAreExact() {
    assertThat(truth.documents()).hasSize(2);
    assertThat(verdict()).isEqualTo(new Verdict(0, 0, 0, 0, 0, List.of()));
    assertThat(verdict().isExact()).isTrue();
    assertThat(verdict().line(8))
        .isEqualTo("faults=8 lost=0 doubled=0 missing_ids=0 repeated_ids=0");
  }

  @Test
  void surplusDoesNotHideALoss() {
    calls.merge(ORDINARY.series(), 3.0, Double::sum);
    counts.merge(ORDINARY.series(), 3.0, Double::sum);
    calls.remove(SLOW.series());
    counts.remove(SLOW.series());
    Verdict verdict = verdict();
    assertThat(verdict.doubled()).isEqualTo(3);
    assertThat(verdict.lost()).isEqualTo(2);
    assertThat(verdict.isExact()).isFalse();
    assertThat(verdict.differences())
        .hasSize(2)
        .anyMatch(line -> line.startsWith("shop / GET prices") && line.contains("calls -2"));
  }

  @Test
  void unexpectedSeriesCountsAsDoubled() {
    calls.put(new SeriesKey("shop", "other", "SPAN_KIND_SERVER", "STATUS_CODE_OK", "a"), 4.0);
    assertThat(verdict().doubled()).isEqualTo(4);
  }

  @Test
  void durationCountsAndSumsAreCompared() {
    counts.merge(ORDINARY.series(), 2.0, Double::sum);
    sums.merge(SLOW.series(), -0.001, Double::sum);
    assertThat(verdict().doubled()).isEqualTo(2);
    assertThat(verdict().lost()).isEqualTo(1);
  }

  @Test
  void missingAndRepeatedDocumentsAreCounted() {
    documents.remove(FAILED.documentId());
    documents.merge(SLOW.documentId(), 2, Integer::sum);
    documents.put(ORDINARY.documentId(), 1);
    assertThat(verdict().missingIds()).isEqualTo(1);
    assertThat(verdict().repeatedIds()).isEqualTo(3);
  }

  @Test
  void decreasedCounterIsNotExact() {
    resets.put(SLOW.series(), 1.0);
    assertThat(verdict().resets()).isEqualTo(1);
    assertThat(verdict().isExact()).isFalse();
  }
}
