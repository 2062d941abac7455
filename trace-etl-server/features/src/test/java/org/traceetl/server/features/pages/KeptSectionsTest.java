package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Page;
import org.traceetl.server.expose.Section;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** What is kept of one page for the next. */
class KeptSectionsTest {
  private static final int QUEUES = 2;
  private static final int SERIES = 3 * SeriesBlock.SERIES;
  private static final int SECTION = SpanNaming.SECTION_SERIES;

  /** Gives the same windows to pages that are read now and then and to pages read at the end. */
  @Property(tries = 40)
  void aPageWithSectionsOfEarlierOnesIsAsOneRenderedFromNothing(@ForAll long seed)
      throws Exception {
    var random = new Random(seed);
    var naming = PageFixture.naming(PageFixture.OTEL);
    Map<Integer, Set<Integer>> live = new HashMap<>();
    Map<Integer, QueueImage> images = new HashMap<>();
    try (SpanPages read = PageFixture.started(naming);
        SpanPages fresh = PageFixture.started(naming)) {
      for (int step = random.nextInt(1, 30); step > 0; step--) {
        int queue = random.nextInt(QUEUES);
        QueueId id = new QueueId("broker", queue);
        QueueImage image =
            images.computeIfAbsent(queue, q -> new QueueImage(0, PageFixture.STRIDE, 1));
        switch (random.nextInt(12)) {
          case 0 -> {
            read.released(id);
            fresh.released(id);
            live.remove(queue);
            images.remove(queue);
          }
          case 1 -> {
            for (SpanPages pages : List.of(read, fresh)) {
              long nowNanos = System.nanoTime();
              pages.restored(id, image, nowNanos);
              pages.shownUntil(id, nowNanos + PageFixture.LONG.toNanos());
              // An image is read until it is folded.
              pages.await(PageFixture.LONG);
            }
          }
          default -> {
            SealedWindow window =
                window(random, id, live.computeIfAbsent(queue, q -> new TreeSet<>()), step);
            image.apply(window);
            read.window(window);
            fresh.window(window);
          }
        }
        if (random.nextBoolean()) {
          PageFixture.bytes(read, Encoding.values()[random.nextInt(6)]);
        }
      }

      for (Encoding encoding : PageFixture.ENCODINGS) {
        assertThat(sent(read, encoding)).isEqualTo(sent(fresh, encoding));
      }
      for (Format format : Format.of(false)) {
        assertThat(PageFixture.bytes(read, Encoding.of(format, true)))
            .isEqualTo(PageFixture.bytes(read, Encoding.of(format, false)));
      }
    }
  }

  @Test
  void onlySectionsWithChangesAreRenderedAgain() {
    CumulativeSeries series =
        new CumulativeSeries(Windows.QUEUE, PageFixture.naming(PageFixture.OTEL), new LongSet());
    Windows all = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    for (int i = 0; i < SERIES; i++) {
      all.create(i, "app", "op-" + i, "2", "0").row(i, 1, 1);
    }
    series.fold(all.seal());
    try (var writer = new SectionWriter()) {
      assertThat(rendered(series, writer))
          .isEqualTo(SERIES / SeriesBlock.SERIES + SERIES / SECTION);
      assertThat(rendered(series, writer)).isZero();

      series.fold(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .row(SECTION, 1, 1)
              .row(SECTION + 1, 1, 1)
              .seal());
      assertThat(rendered(series, writer)).isEqualTo(1 + 1);

      series.fold(Windows.of(Windows.QUEUE, PageFixture.STRIDE).evict(SERIES - 1).seal());
      assertThat(rendered(series, writer)).isEqualTo(1 + 1);

      series.forget(Format.OPENMETRICS);
      assertThat(rendered(series, writer))
          .isEqualTo(SERIES / SeriesBlock.SERIES + SERIES / SECTION);
    }
  }

  @Test
  void whatIsNoLongerWantedIsNotKept() {
    CumulativeSeries series =
        new CumulativeSeries(Windows.QUEUE, PageFixture.naming(PageFixture.OTEL), new LongSet());
    series.fold(
        Windows.of(Windows.QUEUE, PageFixture.STRIDE).create(0, "app", "op", "2", "0").seal());
    try (var writer = new SectionWriter()) {
      assertThat(sections(series, true, true, writer))
          .noneMatch(section -> section.plain() == null || section.deflated() == null);
      assertThat(sections(series, false, true, writer))
          .noneMatch(section -> section.plain() != null || section.deflated() == null);
    }
    assertThat(series.size()).isOne();
  }

  @Test
  void aLongPlainPageIsKeptDeflatedAndSentAsAnyOther() throws Exception {
    Windows window = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    for (int i = 0; i < SERIES; i++) {
      window.create(i, "app", "op-" + i, "2", "0").row(i, i, i);
    }
    SealedWindow sealed = window.seal();
    var naming = PageFixture.naming(PageFixture.OTEL);
    try (SpanPages shorter = PageFixture.started(naming);
        SpanPages longer = new SpanPages(naming, Clocks.SYSTEM, nanos -> {}, SERIES * 100L)) {
      longer.start();
      for (SpanPages pages : List.of(shorter, longer)) {
        pages.window(sealed);
        pages.await(PageFixture.LONG);
      }
      for (Encoding encoding : PageFixture.ENCODINGS) {
        byte[] families = "families".getBytes(UTF_8);
        Page sent = longer.page(encoding, PageFixture.LONG).with(families);
        assertThat(PageFixture.sent(sent))
            .isEqualTo(PageFixture.sent(shorter.page(encoding, PageFixture.LONG).with(families)));
        assertThat(sent.keptBytes()).isLessThan(SERIES * 100L);
      }
    }
  }

  @Test
  void countsAndSumsOutgrowWhatASeriesTakesAtFirst() throws Exception {
    try (SpanPages pages = PageFixture.started(PageFixture.naming(PageFixture.OTEL))) {
      long[] deltas = {(1L << 32) - 1, 1, 1L << 40, 7};
      Windows window = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
      pages.window(window.create(0, "a", "op", "2", "0").create(1, "b", "op", "2", "0").seal());
      long sum = 0;
      for (long delta : deltas) {
        pages.window(
            Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(0, 1, delta).row(1, 1, 1).seal());
        sum += delta;
        assertThat(PageFixture.text(pages, Encoding.TEXT))
            .contains("status_code=\"STATUS_CODE_UNSET\"} " + sum + "\n");
      }
      pages.window(Windows.of(Windows.QUEUE, PageFixture.STRIDE).evict(0).seal());
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(0, "c", "op", "2", "0")
              .row(0, 1, 5)
              .seal());

      assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("} 5\n").contains("} 4\n");
    }
  }

  @Test
  void exemplarsLeaveWhenEveryScraperHasSeenThem() {
    try (SpanPages pages = PageFixture.started(PageFixture.naming(PageFixture.OTEL))) {
      Windows window = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
      pages.window(
          window
              .create(0, "a", "op", "2", "0")
              .create(1, "b", "op", "2", "0")
              .row(0, 1, 1)
              .exemplar(0, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1)
              .seal());
      pages.window(later(4 * 60_000, "1af7651916cd43dd8448eb211c80319c"));
      assertThat(PageFixture.text(pages, Encoding.OPENMETRICS)).contains("0af765", "1af765");

      pages.window(later(6 * 60_000, "2af7651916cd43dd8448eb211c80319c"));

      assertThat(PageFixture.text(pages, Encoding.OPENMETRICS))
          .contains("2af765")
          .doesNotContain("0af765", "1af765");
    }
  }

  /** A window that much after the others, with an exemplar of the second series. */
  private static SealedWindow later(long millis, String traceId) {
    return Windows.of(Windows.QUEUE, PageFixture.STRIDE)
        .after(millis)
        .row(1, 1, 1)
        .exemplar(0, traceId, "b7ad6b7169203331", 1)
        .seal();
  }

  /** Few series of many change. */
  private static SealedWindow window(Random random, QueueId queue, Set<Integer> live, int step) {
    var window = Windows.of(queue, PageFixture.STRIDE);
    Set<Integer> touched = new TreeSet<>();
    int first = random.nextInt(SERIES);
    for (int i = random.nextInt(60); i > 0; i--) {
      touched.add(Math.min(SERIES - 1, first + random.nextInt(30)));
    }
    List<Integer> evicted = new ArrayList<>();
    for (int series : touched) {
      if (live.add(series)) {
        window.create(series, "app", "op-" + series + "-" + random.nextInt(), "2", "0");
      }
      window.row(series, random.nextLong(1L << 50), random.nextLong(1L << 34), 0, step, 0);
      if (random.nextInt(4) == 0) {
        window.exemplar(
            random.nextInt(PageFixture.STRIDE),
            "%016x%016x".formatted(random.nextLong(), random.nextLong()),
            "%016x".formatted(random.nextLong()),
            random.nextLong(5_000_000_000L));
      }
      if (random.nextInt(10) == 0) {
        evicted.add(series);
      }
    }
    for (int series : evicted) {
      window.evict(series);
      live.remove(series);
    }
    return window.after(random.nextLong(10 * 60_000)).seal();
  }

  private static byte[] sent(SpanPages pages, Encoding encoding) throws Exception {
    pages.await(PageFixture.LONG);
    try {
      return PageFixture.sent(pages.page(encoding, PageFixture.LONG).with(new byte[0]));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Sections rendered to make a page. */
  private static long rendered(CumulativeSeries series, SectionWriter writer) {
    long before = writer.sections();
    assertThat(sections(series, true, true, writer)).isNotEmpty();
    return writer.sections() - before;
  }

  private static List<Section> sections(
      CumulativeSeries series, boolean plain, boolean gzip, SectionWriter writer) {
    List<Section> sections = new ArrayList<>();
    // Those that a page has where no events are counted.
    for (Family family : PageFixture.naming(PageFixture.OTEL).families()) {
      var ofFamily = new FamilySections(family);
      series.sections(family, Format.OPENMETRICS, plain, gzip, writer, ofFamily);
      sections.addAll(ofFamily.sections());
    }
    return sections;
  }
}
