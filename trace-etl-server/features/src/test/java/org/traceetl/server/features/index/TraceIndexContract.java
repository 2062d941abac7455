package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.features.index.Traces.ALL;
import static org.traceetl.server.features.index.Traces.all;
import static org.traceetl.server.features.index.Traces.between;
import static org.traceetl.server.features.index.Traces.document;
import static org.traceetl.server.features.index.Traces.pages;
import static org.traceetl.server.features.index.Traces.query;
import static org.traceetl.server.features.index.Traces.rest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

/** What every {@link TraceIndex} does. */
abstract class TraceIndexContract {
  /** 2026-11-21T00:00:00.123456789Z. */
  static final long START = 1_795_219_200_123_456_789L;

  private static final Comparator<TraceDocument> ORDER =
      Comparator.comparingLong(TraceDocument::startUnixNanos)
          .reversed()
          .thenComparing(TraceDocument::traceId)
          .thenComparing(TraceDocument::spanId);

  private TraceIndex index;

  /** An empty index of the test's own. */
  abstract TraceIndex open() throws Exception;

  /** Makes what was written searchable now. */
  abstract void refresh() throws Exception;

  @BeforeEach
  final void openIndex() throws Exception {
    index = open();
  }

  @AfterEach
  final void closeIndex() {
    index.close();
    index.close();
  }

  private void write(List<TraceDocument> documents) throws Exception {
    assertThat(index.write(documents)).isEqualTo(WriteResult.kept(documents.size()));
    refresh();
  }

  private void write(TraceDocument... documents) throws Exception {
    write(List.of(documents));
  }

  @Test
  void anIndexWithoutDocumentsFindsNone() throws Exception {
    assertThat(index.search(ALL)).isEqualTo(new TracePage(List.of(), null));
    assertThat(index.search(query("shop", "GET /cart", Reason.ERROR)).documents()).isEmpty();
    assertThat(index.search(pages(1, new Cursor(START, "a5".repeat(16), "a5".repeat(8)))))
        .isEqualTo(new TracePage(List.of(), null));
  }

  @Test
  void onlyVisibleApplicationsAreFound() throws Exception {
    List<TraceDocument> all = new ArrayList<>();
    for (String name : List.of("shop-1", "shop-2", "shop", "bank", "b?nk", "a\\*b", "a\\cb")) {
      all.add(document(all.size(), START, name, "GET /", Reason.ERROR, Map.of()));
    }
    write(all);

    assertThat(visible("shop-*")).containsExactly("shop-1", "shop-2");
    assertThat(visible("shop", "b?nk")).containsExactly("b?nk", "shop");
    assertThat(visible("a\\*")).containsExactly("a\\*b", "a\\cb");
    assertThat(visible("?hop")).isEmpty();
    assertThat(visible()).isEmpty();
    TraceQuery inAll =
        new TraceQuery(null, null, null, 0, Long.MAX_VALUE, 1, null, List.of("shop-*"));
    TracePage first = index.search(inAll);
    TracePage second =
        index.search(
            new TraceQuery(
                null, null, null, 0, Long.MAX_VALUE, 1, first.next(), List.of("shop-*")));
    assertThat(second.documents()).extracting(TraceDocument::application).containsExactly("shop-2");
    assertThat(second.next()).as("hidden documents are no next page").isNull();
    assertThat(
            index
                .search(
                    new TraceQuery(
                        "bank", null, null, 0, Long.MAX_VALUE, 10, null, List.of("shop-*")))
                .documents())
        .isEmpty();
  }

  private List<String> visible(String... patterns) throws IOException {
    return index
        .search(new TraceQuery(null, null, null, 0, Long.MAX_VALUE, 1000, null, List.of(patterns)))
        .documents()
        .stream()
        .map(TraceDocument::application)
        .sorted()
        .toList();
  }

  @Test
  void anEmptyWriteIsNone() throws Exception {
    assertThat(index.write(List.of())).isEqualTo(WriteResult.kept(0));
  }

  @Test
  void aDocumentReadsBackWhole() throws Exception {
    TraceDocument document =
        new TraceDocument(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            "shop",
            "GET /cart/{id}",
            5,
            2,
            "out of stock",
            START,
            Long.MAX_VALUE,
            Reason.ERROR,
            Map.of("http.route", "/cart/{id}", "k8s.pod.name", "shop-1", "empty", ""));
    write(document);
    assertThat(index.search(ALL)).isEqualTo(new TracePage(List.of(document), null));
    assertThat(index.healthy()).isTrue();
  }

  @Test
  void aRepeatIsThereOnce() throws Exception {
    TraceDocument one = document(1, START);
    TraceDocument two = document(2, START);
    write(one, two);
    write(two, one, one);
    assertThat(index.search(ALL).documents()).containsExactly(one, two);
  }

  @Test
  void spansOfOneTraceAreDocumentsOfTheirOwn() throws Exception {
    TraceDocument one = document(1, START);
    TraceDocument other =
        new TraceDocument(
            one.traceId(),
            "00000000000000a5",
            "shop",
            "x",
            1,
            0,
            "",
            START,
            1,
            Reason.SLOW,
            Map.of());
    write(one, other);
    assertThat(index.search(ALL).documents()).containsExactly(other, one);
  }

  @Test
  void filtersNarrow() throws Exception {
    TraceDocument slowCart = document(1, START, "shop", "GET /cart", Reason.SLOW);
    TraceDocument failedCart = document(2, START, "shop", "GET /cart", Reason.ERROR);
    TraceDocument slowPay = document(3, START, "shop", "POST /pay", Reason.SLOW);
    TraceDocument exemplar = document(4, START, "bank", "POST /pay", Reason.EXEMPLAR);
    write(slowCart, failedCart, slowPay, exemplar);

    assertThat(index.search(query("shop", null, null)).documents())
        .containsExactly(slowCart, failedCart, slowPay);
    assertThat(index.search(query(null, "POST /pay", null)).documents())
        .containsExactly(slowPay, exemplar);
    assertThat(index.search(query(null, null, Reason.SLOW)).documents())
        .containsExactly(slowCart, slowPay);
    assertThat(index.search(query(null, null, Reason.EXEMPLAR)).documents())
        .containsExactly(exemplar);
    assertThat(index.search(query("shop", "GET /cart", Reason.ERROR)).documents())
        .containsExactly(failedCart);
    assertThat(index.search(query("bank", "GET /cart", null)).documents()).isEmpty();
  }

  @Test
  void filtersAreExact() throws Exception {
    write(document(1, START, "shop", "GET /cart", Reason.SLOW));
    for (String other : List.of("Shop", "sho", "shop ", "sho*", "sho?", "*", "/sh.p/", "")) {
      assertThat(index.search(query(other, null, null)).documents()).as(other).isEmpty();
    }
  }

  @Test
  void aRangeHoldsItsBeginningAndNotItsEnd() throws Exception {
    TraceDocument before = document(1, START - 1);
    TraceDocument at = document(2, START);
    TraceDocument after = document(3, START + 1);
    write(before, at, after);

    assertThat(index.search(between(START, START + 1)).documents()).containsExactly(at);
    assertThat(index.search(between(START - 1, START + 1)).documents()).containsExactly(at, before);
    assertThat(index.search(between(START, Long.MAX_VALUE)).documents()).containsExactly(after, at);
    assertThat(index.search(between(0, START)).documents()).containsExactly(before);
    assertThat(index.search(between(START, START)).documents()).isEmpty();
    assertThat(index.search(between(0, 0)).documents()).isEmpty();
  }

  @Test
  void theEndsOfTimeAreKept() throws Exception {
    TraceDocument last = document(1, Long.MAX_VALUE);
    TraceDocument first = document(2, 0);
    TraceDocument earlier = document(3, -1);
    TraceDocument earliest = document(4, Long.MIN_VALUE);
    write(earlier, last, earliest, first);

    assertThat(all(index, 1)).containsExactly(last, first, document(3, 0), document(4, 0));
    assertThat(index.search(between(Long.MAX_VALUE, Long.MAX_VALUE)).documents())
        .containsExactly(last);
  }

  @Test
  void resultsAreNewestFirstThenById() throws Exception {
    List<TraceDocument> documents =
        new ArrayList<>(LongStream.range(0, 50).mapToObj(i -> document(i, START + i % 5)).toList());
    Collections.shuffle(documents, new Random(1));
    write(documents);
    assertThat(index.search(ALL).documents())
        .containsExactlyElementsOf(documents.stream().sorted(ORDER).toList());
  }

  @Test
  void pagesNeitherLoseNorRepeatWhereStartsAreEqual() throws Exception {
    List<TraceDocument> documents =
        LongStream.range(0, 60).mapToObj(i -> document(i, START + i / 25)).toList();
    write(documents);
    List<TraceDocument> expected = documents.stream().sorted(ORDER).toList();
    for (int limit : new int[] {1, 7, 30, 59, 60, 61}) {
      assertThat(all(index, limit)).as("limit %d", limit).isEqualTo(expected);
    }
  }

  @Test
  void aFullLastPageHasNoNext() throws Exception {
    write(document(1, START), document(2, START));
    assertThat(index.search(pages(2, null)).next()).isNull();
    assertThat(index.search(pages(1, null)).next()).isNotNull();
  }

  @Test
  void documentsThatArriveBetweenPagesDisturbNone() throws Exception {
    List<TraceDocument> there =
        LongStream.range(100, 140).mapToObj(i -> document(i, START + i % 2)).toList();
    write(there);
    TracePage first = index.search(pages(15, null));

    write(
        LongStream.range(0, 300)
            .filter(i -> i < 100 || i >= 140)
            .mapToObj(i -> document(i, START + i % 4 - 1))
            .toList());
    List<TraceDocument> read = new ArrayList<>(first.documents());
    read.addAll(rest(index, 15, first.next()));

    assertThat(read).containsAll(there).doesNotHaveDuplicates().isSortedAccordingTo(ORDER);
  }

  @Test
  void hostileTextReadsBackAndIsFound() throws Exception {
    List<String> names =
        List.of(
            "\"; DROP TABLE spans; --",
            "{\"query\":{\"match_all\":{}}}\n{\"index\":{}}",
            "a\0b",
            "\u202Eevil\u202C مرحبا",
            "\uD83D\uDE00 \uFFFF \u2028",
            "\\\\ \t\r\n",
            " ",
            "x".repeat(TraceIndex.MAX_FILTERED_LENGTH),
            "\u6F22".repeat(TraceIndex.MAX_FILTERED_LENGTH));
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      documents.add(
          document(i, START, names.get(i), names.get(i), Reason.ERROR, Map.of("k", names.get(i))));
    }
    write(documents);
    assertThat(index.search(ALL).documents()).isEqualTo(documents);
    for (int i = 0; i < names.size(); i++) {
      assertThat(index.search(query(names.get(i), names.get(i), null)).documents())
          .as(names.get(i))
          .containsExactly(documents.get(i));
    }
  }

  @Test
  void loneSurrogatesAreReplaced() throws Exception {
    for (String lone : List.of("a\uD83Db", "a\uDE00b")) {
      write(document(1, START, lone, lone + "\uD83D", Reason.SLOW, Map.of("k", lone)));
      TraceDocument kept =
          document(1, START, "a\uFFFDb", "a\uFFFDb\uFFFD", Reason.SLOW, Map.of("k", "a\uFFFDb"));
      assertThat(index.search(ALL).documents()).containsExactly(kept);
      assertThat(index.search(query(lone, null, null)).documents()).containsExactly(kept);
    }
  }

  @Test
  void longTextIsKeptWhole() throws Exception {
    String name = "n".repeat(10_000);
    String value = "v".repeat(65_535);
    TraceDocument document =
        new TraceDocument(
            "a5".repeat(16),
            "a5".repeat(8),
            name,
            name,
            2,
            2,
            value,
            START,
            1,
            Reason.ERROR,
            Map.of("stack", value));
    write(document);
    assertThat(index.search(ALL).documents()).containsExactly(document);
    assertThat(index.search(query(name, null, null)).documents()).isEmpty();

    TraceDocument later = document(1, START - 1, "short", "short", Reason.SLOW, Map.of());
    write(later);
    assertThat(index.search(ALL).documents()).containsExactly(document, later);
    assertThat(index.search(query("short", "short", null)).documents()).containsExactly(later);
  }

  @Test
  void aBigBatchIsKeptAndFound() throws Exception {
    List<TraceDocument> documents =
        LongStream.range(0, 10_000).mapToObj(i -> document(i, START + i / 3)).toList();
    write(documents);
    assertThat(all(index, TraceQuery.MAX_LIMIT))
        .isEqualTo(documents.stream().sorted(ORDER).toList());
  }

  @Test
  void aSearchBesideAWriteSeesDocumentsWholeAndOnce() throws Exception {
    List<TraceDocument> documents =
        LongStream.range(0, 2_000).mapToObj(i -> document(i, START + i)).toList();
    Thread writing =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; i < documents.size(); i += 100) {
                try {
                  index.write(documents.subList(i, i + 100));
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              }
            });
    while (writing.isAlive()) {
      assertThat(all(index, 300)).isSubsetOf(documents).doesNotHaveDuplicates();
    }
    refresh();
    assertThat(all(index, 300)).hasSize(2_000);
  }

  @Test
  void anAnswerInSlicesReachesOverItsWholeTime() throws Exception {
    long minute = TimeUnit.MINUTES.toNanos(1);
    List<TraceDocument> spread =
        LongStream.range(0, 12)
            .mapToObj(slice -> document(100 + slice, START + slice * minute))
            .toList();
    List<TraceDocument> last =
        LongStream.range(0, 50)
            .mapToObj(number -> document(number, START + 12 * minute - 1 - number))
            .toList();
    List<TraceDocument> all = Stream.concat(last.stream(), spread.reversed().stream()).toList();
    assertThat(index.write(all)).isEqualTo(WriteResult.kept(62));
    refresh();
    TraceQuery hour = Traces.between(START, START + 12 * minute);

    TracePage some = index.search(hour.with(START, START + 12 * minute, 2), 12);
    TracePage everything = index.search(hour.with(START, START + 12 * minute, 6), 12);

    assertThat(some.documents())
        .containsExactlyElementsOf(
            Stream.concat(last.stream().limit(13), spread.reversed().stream().skip(1)).toList());
    assertThat(everything.documents()).containsExactlyElementsOf(all);
    assertThat(some.next()).isNull();
  }
}
