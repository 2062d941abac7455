package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Page;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

class SpanPagesTest {
  private static final QueueId OTHER = new QueueId("broker-a", 4);

  private final AtomicLong nanos = new AtomicLong();
  private final SpanPages pages =
      new SpanPages(
          PageFixture.naming(PageFixture.OTEL),
          new Clocks(nanos::get, InstantSource.system()),
          taken -> {});

  @AfterEach
  void close() {
    pages.close();
  }

  @Test
  void pageIsValidBeforeTheFirstWindow() {
    pages.start();

    assertThat(PageFixture.text(pages, Encoding.TEXT))
        .contains("# TYPE traces_span_metrics_calls_total counter\n")
        .doesNotContain("{");
  }

  @Test
  void everyScraperGetsTheSameBytes() throws Exception {
    pages.start();
    pages.window(window(Windows.QUEUE, 1, "a"));
    pages.await(PageFixture.LONG);
    for (Encoding encoding : PageFixture.ENCODINGS) {
      byte[] first = PageFixture.sent(pages.page(encoding, PageFixture.LONG).with(new byte[0]));
      byte[] second = PageFixture.sent(pages.page(encoding, PageFixture.LONG).with(new byte[0]));

      assertThat(second).isEqualTo(first);
    }
  }

  @Test
  void releasedQueueLeavesThePage() {
    pages.start();
    pages.window(window(Windows.QUEUE, 1, "stays"));
    pages.window(window(OTHER, 1, "goes"));
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("goes");

    pages.released(OTHER);

    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("stays").doesNotContain("goes");
    assertThat(pages.totals().series()).isEqualTo(1);
  }

  @Test
  void numberOfAnEvictedSeriesStartsAnew() {
    pages.start();
    pages.window(window(Windows.QUEUE, 5, "old"));
    pages.window(Windows.of(Windows.QUEUE, PageFixture.STRIDE).evict(0).seal());
    pages.window(window(Windows.QUEUE, 2, "new"));

    assertThat(PageFixture.text(pages, Encoding.TEXT))
        .contains(
            "service_name=\"new\",span_name=\"op\",span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_UNSET\"}"
                + " 2\n")
        .doesNotContain("old");
  }

  @Test
  void seriesWithTheSameLabelsAreToldApartByTheirQueue() {
    pages.start();
    pages.window(window(Windows.QUEUE, 1, "a"));
    pages.window(window(OTHER, 2, "a"));

    assertThat(PageFixture.text(pages, Encoding.TEXT))
        .contains("status_code=\"STATUS_CODE_UNSET\"} 1\n")
        .contains("status_code=\"STATUS_CODE_UNSET\",trace_etl_queue=\"broker-a/4\"} 2\n");
  }

  @Test
  void everySeriesIsNamedAfterItsQueueWhereThatIsWanted() {
    var wanted =
        new MetricsConfig(null, null, null, MetricsConfig.QueueLabel.ALWAYS, null, null, null);
    try (SpanPages named = PageFixture.started(PageFixture.naming(wanted))) {
      named.window(window(OTHER, 2, "a"));

      assertThat(PageFixture.text(named, Encoding.TEXT))
          .contains("status_code=\"STATUS_CODE_UNSET\",trace_etl_queue=\"broker-a/4\"} 2\n");
    }
  }

  @Test
  void seriesThatDifferOnlyInWhatPrometheusCannotSeeAreToldApart() {
    pages.start();
    pages.window(
        Windows.of(Windows.QUEUE, PageFixture.STRIDE)
            .create(0, "a", "op", "2", "0", null, null)
            .create(1, "a", "op", "2", "0", "", null)
            .create(2, "a", "op", "2", "0", null, "")
            .seal());

    // The parser refuses a page that has a sample twice.
    assertThat(Samples.parse(PageFixture.text(pages, Encoding.TEXT)).values)
        .hasSize(3 * (1 + PageFixture.STRIDE + 2));
  }

  @Test
  void rowsOfUnknownSeriesAreCountedAndHurtNothing() {
    pages.start();
    pages.window(Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(7, 1, 1).seal());
    pages.window(window(Windows.QUEUE, 3, "a"));

    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("} 3\n");
    assertThat(pages.totals().unknownRows()).isEqualTo(1);
  }

  @Test
  void windowOfOtherBucketsIsRefused() {
    SealedWindow window =
        Windows.of(Windows.QUEUE, 2).create(0, "a", "op", "2", "0").row(0, 1, 1).seal();

    assertThatThrownBy(() -> pages.window(window))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has 2 numbers of a series: must have 4");
  }

  @Test
  void encodingsThatNobodyAsksForAreNotKept() throws Exception {
    pages.start();
    pages.page(Encoding.TEXT, PageFixture.LONG);
    pages.page(Encoding.OPENMETRICS_GZIP, PageFixture.LONG);
    assertThat(pages.pageBytes()).containsOnlyKeys(Encoding.TEXT, Encoding.OPENMETRICS_GZIP);

    nanos.addAndGet(TimeUnit.MINUTES.toNanos(4));
    pages.page(Encoding.TEXT, PageFixture.LONG);
    nanos.addAndGet(TimeUnit.MINUTES.toNanos(2));
    pages.window(window(Windows.QUEUE, 1, "a"));
    pages.await(PageFixture.LONG);

    assertThat(pages.pageBytes()).containsOnlyKeys(Encoding.TEXT);
  }

  @Test
  void firstRequestThatIsNotAnsweredInTimeFails() {
    // Not started: nobody renders.
    assertThatThrownBy(() -> pages.page(Encoding.TEXT, Duration.ofMillis(1)))
        .isInstanceOf(TimeoutException.class);
  }

  @Test
  void closedPagesRefuseWindowsInsteadOfLosingThem() {
    pages.start();
    pages.close();

    assertThat(pages.alive()).isFalse();
    assertThatThrownBy(() -> pages.window(window(Windows.QUEUE, 1, "a")))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> pages.page(Encoding.TEXT, PageFixture.LONG))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void lastPageStaysReadableAfterClosing() throws Exception {
    pages.start();
    pages.window(window(Windows.QUEUE, 1, "a"));
    byte[] last = PageFixture.bytes(pages, Encoding.TEXT);

    pages.close();

    assertThat(PageFixture.sent(pages.page(Encoding.TEXT, PageFixture.LONG).with(new byte[0])))
        .isEqualTo(last);
  }

  @Test
  void failedFoldThreadServesNoPageThatHasStoodStill() throws Exception {
    var fault = new IllegalStateException("a fault of ours");
    var broken = new AtomicBoolean();
    try (var failing =
        new SpanPages(
            PageFixture.naming(PageFixture.OTEL),
            new Clocks(nanos::get, InstantSource.system()),
            taken -> {
              if (broken.get()) {
                throw fault;
              }
            })) {
      failing.start();
      failing.page(Encoding.TEXT, PageFixture.LONG);
      broken.set(true);

      assertThatThrownBy(() -> failing.await(PageFixture.LONG)).hasCause(fault);
      assertThatThrownBy(() -> failing.page(Encoding.TEXT, PageFixture.LONG)).hasCause(fault);
      assertThat(failing.alive()).isFalse();
    }
  }

  @Test
  void sumsStayExactAboveWhatADoubleHolds() {
    pages.start();
    var first = Windows.of(Windows.QUEUE, PageFixture.STRIDE).create(0, "a", "op", "2", "0");
    pages.window(first.row(0, Long.MAX_VALUE, 1).seal());
    pages.window(Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(0, Long.MAX_VALUE, 1).seal());

    // 2 * (2^63 - 1) ns
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("} 18446744073709.551614\n");
  }

  @Test
  void longLabelsFitWhateverTheBuffer() {
    pages.start();
    String name = "x".repeat(300_000);
    pages.window(
        Windows.of(Windows.QUEUE, PageFixture.STRIDE)
            .create(0, "a", name, "2", "0")
            .row(0, 1, 1)
            .seal());

    for (Encoding encoding : PageFixture.ENCODINGS) {
      if (encoding.format() == Format.PROTOBUF) {
        assertThat(PageFixture.text(pages, encoding)).contains(name);
      } else {
        assertThat(Samples.parse(PageFixture.text(pages, encoding)).values.keySet())
            .allMatch(key -> key.labels().get("span_name").equals(name));
      }
    }
  }

  /** An image with one series of so many spans. */
  private static QueueImage image(long spans, String application) {
    QueueImage image = new QueueImage(0, PageFixture.STRIDE, 1);
    image.apply(window(Windows.QUEUE, spans, application));
    return image;
  }

  private Page page() throws Exception {
    return pages.page(Encoding.TEXT, PageFixture.LONG);
  }

  private String served() throws Exception {
    return new String(PageFixture.sent(page().with(new byte[0])), UTF_8);
  }

  @Test
  void aQueueThatWasTakenOverGoesOnWithItsCounts() throws Exception {
    pages.start();
    pages.restored(Windows.QUEUE, image(40, "shop"), 0);
    pages.shownUntil(Windows.QUEUE, 100);
    pages.window(Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(0, 1, 2).seal());

    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("\"shop\"").contains("} 42\n");
    assertThat(pages.totals().hidden()).isZero();
  }

  @Test
  void aQueueIsNotShownWhileItsLastOwnerMayShowIt() throws Exception {
    pages.start();
    pages.restored(Windows.QUEUE, image(1, "shop"), 50);
    pages.shownUntil(Windows.QUEUE, 100);
    nanos.set(49);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).doesNotContain("shop");
    assertThat(pages.totals().hidden()).isEqualTo(1);
    assertThat(pages.totals().series()).isZero();

    nanos.set(50);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("shop");
  }

  @Test
  void aQueueShowsByItselfWhenItsTimeComes() throws Exception {
    var timed = new SpanPages(PageFixture.naming(PageFixture.OTEL), Clocks.SYSTEM, taken -> {});
    try (timed) {
      timed.start();
      timed.page(Encoding.TEXT, PageFixture.LONG);
      long fromNanos = System.nanoTime() + Duration.ofMillis(300).toNanos();
      timed.restored(Windows.QUEUE, image(1, "shop"), fromNanos);
      timed.shownUntil(Windows.QUEUE, fromNanos + PageFixture.LONG.toNanos());

      await()
          .atMost(PageFixture.LONG)
          .until(() -> timed.totals().queues() == 1 && timed.totals().hidden() == 0);
      assertThat(System.nanoTime() - fromNanos).isNotNegative();
    }
  }

  @Test
  void aPageIsNotServedOnceALeaseOnItHasRunOut() throws Exception {
    pages.start();
    pages.window(window(OTHER, 1, "unleased"));
    pages.restored(Windows.QUEUE, image(1, "shop"), 0);
    pages.shownUntil(Windows.QUEUE, 100);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("shop");
    Page before = page();

    // As a process that was stopped, and goes on: nothing else has happened meanwhile.
    nanos.set(100);

    assertThat(before.with(new byte[0]).current()).isFalse();
    assertThat(served()).contains("unleased").doesNotContain("shop");
    assertThat(pages.totals().expiries()).isEqualTo(1);
  }

  @Test
  void aLeaseExtendedInTimeKeepsThePage() throws Exception {
    pages.start();
    pages.restored(Windows.QUEUE, image(1, "shop"), 0);
    pages.shownUntil(Windows.QUEUE, 100);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("shop");
    Page before = page();
    pages.shownUntil(Windows.QUEUE, 200);
    nanos.set(199);

    assertThat(before.current()).isTrue();
    assertThat(served()).contains("shop");
  }

  @Test
  void aLeaseExtendedLateBringsTheQueueBack() throws Exception {
    pages.start();
    pages.restored(Windows.QUEUE, image(1, "shop"), 0);
    pages.shownUntil(Windows.QUEUE, 100);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("shop");
    nanos.set(150);
    assertThat(served()).doesNotContain("shop");

    pages.shownUntil(Windows.QUEUE, 250);

    await().atMost(PageFixture.LONG).untilAsserted(() -> assertThat(served()).contains("shop"));
  }

  @Test
  void noPageWithAReleasedQueueIsServedAfterTheRelease() throws Exception {
    pages.start();
    pages.restored(Windows.QUEUE, image(1, "shop"), 0);
    pages.shownUntil(Windows.QUEUE, 100);
    assertThat(PageFixture.text(pages, Encoding.TEXT)).contains("shop");
    Page before = page();

    pages.released(Windows.QUEUE);

    assertThat(before.current()).isFalse();
    assertThat(served()).doesNotContain("shop");
    assertThat(pages.totals().expiries()).isZero();
  }

  private static SealedWindow window(QueueId queue, long spans, String application) {
    return Windows.of(queue, PageFixture.STRIDE)
        .create(0, application, "op", "2", "0")
        .row(0, 1_000_000 * spans, spans)
        .seal();
  }

  @Test
  void stepsReplaceTheThread() {
    var stepped =
        new SpanPages(
            PageFixture.naming(PageFixture.OTEL),
            new Clocks(nanos::get, InstantSource.system()),
            taken -> {});
    stepped.released(Windows.QUEUE);
    assertThat(stepped.doWork()).isEqualTo(1);
    assertThat(stepped.doWork()).isZero();
    stepped.close();
  }
}
