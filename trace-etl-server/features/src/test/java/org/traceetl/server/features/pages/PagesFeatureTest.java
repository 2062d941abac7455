package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.primitives.Bytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.EdgeNaming;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Page;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** A page has the families of spans, those of edges, and the server's own. */
class PagesFeatureTest {
  private static final QueueId EDGES = new QueueId("broker-e", 1);
  private static final int SERIES = 3 * SeriesBlock.SERIES;

  private final AtomicLong nanos = new AtomicLong();
  private final ServerTelemetry telemetry = new ServerTelemetry("test", Duration.ofMinutes(15));
  private final PagesFeature pages = feature(PageFixture.OTEL, Long.MAX_VALUE);

  @BeforeEach
  void start() {
    pages.metrics(telemetry);
    fill(pages);
  }

  @AfterEach
  void close() {
    pages.close();
  }

  private PagesFeature feature(MetricsConfig metrics, long maxPlainBytesOfSpans) {
    var clocks = new Clocks(nanos::get, InstantSource.system());
    var spans =
        new SpanPages(PageFixture.naming(metrics), clocks, taken -> {}, maxPlainBytesOfSpans);
    var naming = new EdgeNaming(PageFixture.BOUNDS, spans.hasUtf8Names(), List.of());
    return new PagesFeature(
        spans, new SpanPages(naming, clocks, taken -> {}), telemetry, nanos::get);
  }

  private static void fill(PagesFeature feature) {
    feature.start(null);
    Windows window = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    for (int i = 0; i < SERIES; i++) {
      window.create(i, "shop", "op-" + i, "2", "0", "/" + i, null).row(i, i, i);
    }
    feature.pages().window(window.seal());
    feature.edges().window(EdgesPageTest.window(Windows.QUEUE).seal());
    feature.edges().window(edges());
  }

  /** Edges of several blocks, and thus of several shards. */
  private static SealedWindow edges() {
    Windows window = Windows.of(EDGES, PageFixture.STRIDE);
    for (int i = 0; i < SERIES; i++) {
      window.create(i, "shop", "pay-" + i / 8, Integer.toString(i % 8 + 1), "0", null).row(i, i, i);
    }
    return window.seal();
  }

  private static byte[] read(PagesFeature from, Encoding encoding, Shard shard) throws Exception {
    from.pages().await(PageFixture.LONG);
    from.edges().await(PageFixture.LONG);
    Page page = from.page(encoding, shard);
    assertThat(page.encoding()).isEqualTo(encoding);
    return plain(encoding, PageFixture.sent(page));
  }

  private static byte[] plain(Encoding encoding, byte[] sent) throws IOException {
    if (!encoding.gzip()) {
      return sent;
    }
    try (var in = new GZIPInputStream(new ByteArrayInputStream(sent))) {
      return in.readAllBytes();
    }
  }

  private static void assertPage(PagesFeature of, Encoding encoding) throws Exception {
    byte[] page = read(of, encoding, Shard.WHOLE);
    byte[] series =
        Bytes.concat(
            PageFixture.bytes(of.pages(), encoding), PageFixture.bytes(of.edges(), encoding));
    String own = new String(page, series.length, page.length - series.length, UTF_8);

    assertThat(Arrays.copyOf(page, series.length)).isEqualTo(series);
    assertThat(own).contains("trace_etl_build_info").doesNotContain("traces_s");
    if (encoding.format().isOpenMetrics()) {
      assertThat(new String(page, UTF_8)).containsOnlyOnce("# EOF").endsWith("# EOF\n");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE})
  void edgesFollowSpansInEachEncoding(long maxPlainBytesOfSpans) throws Exception {
    PagesFeature other = feature(PageFixture.OTEL, maxPlainBytesOfSpans);
    try {
      fill(other);
      for (Encoding encoding : PageFixture.ENCODINGS) {
        assertPage(other, encoding);
      }
    } finally {
      other.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void edgesHaveThePagesOfUtf8Names(Encoding encoding) throws Exception {
    PagesFeature utf8 = feature(PageFixture.OTEL_UTF8, Long.MAX_VALUE);
    try {
      fill(utf8);
      assertPage(utf8, encoding);
      assertThat(
              PageFixture.bytes(
                  utf8.edges(), Encoding.of(encoding.format().withUtf8Names(), encoding.gzip())))
          .isEqualTo(PageFixture.bytes(utf8.edges(), encoding));
    } finally {
      utf8.close();
    }
  }

  @Test
  void edgesMustHaveTheFormatsOfSpans() {
    var spans = new SpanPages(PageFixture.naming(PageFixture.OTEL_UTF8), Clocks.SYSTEM, n -> {});

    assertThatThrownBy(() -> new PagesFeature(spans, pages.edges(), telemetry, nanos::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("UTF-8 names");
  }

  @ParameterizedTest
  @EnumSource(names = {"TEXT", "OPENMETRICS_2_GZIP", "PROTOBUF"})
  void shardsTogetherHaveEachSeriesOnce(Encoding encoding) throws Exception {
    List<String> whole = samples(encoding, Shard.WHOLE);
    assertThat(whole)
        .doesNotHaveDuplicates()
        .anyMatch(sample -> sample.startsWith("traces_span_metrics_calls"))
        .anyMatch(sample -> sample.startsWith("traces_service_graph_request"));
    for (int of = 1; of <= 5; of++) {
      List<String> together = new ArrayList<>();
      for (int number = 0; number < of; number++) {
        together.addAll(samples(encoding, new Shard(number, of)));
      }

      assertThat(together).containsExactlyInAnyOrderElementsOf(whole);
    }
  }

  /** Returns the lines of series, or the metrics of protobuf with the names of their families. */
  private List<String> samples(Encoding encoding, Shard shard) throws Exception {
    byte[] page = read(pages, encoding, shard);
    return (encoding.format().isProtobuf()
            ? ShardedPageTest.ofProtobuf(page).samples().stream()
            : new String(page, UTF_8).lines())
        .filter(sample -> sample.startsWith("traces_"))
        .toList();
  }

  @Test
  void anExpiredLeaseOfEdgesEndsThePage() throws Exception {
    QueueId taken = new QueueId("broker-e", 2);
    QueueImage image = new QueueImage(0, PageFixture.STRIDE, 1);
    image.apply(
        Windows.of(taken, PageFixture.STRIDE).create(0, "taken", "over", "1", "0", null).seal());
    pages.edges().restored(taken, image, 0);
    pages.edges().shownUntil(taken, 100);
    pages.edges().await(PageFixture.LONG);
    Page page = pages.page(Encoding.TEXT);
    assertThat(page.current()).isTrue();
    assertThat(new String(PageFixture.sent(page), UTF_8)).contains("taken");

    nanos.set(100);

    assertThat(page.current()).isFalse();
    Page next = pages.page(Encoding.TEXT);
    assertThat(next.current()).isTrue();
    assertThat(new String(PageFixture.sent(next), UTF_8)).doesNotContain("taken");
    assertThat(own())
        .contains("trace_etl_hidden_queues 1.0\n")
        .contains("trace_etl_lease_expiries_total 1.0\n");
  }

  @Test
  void countsOfPagesAreThoseOfSpansAndEdges() throws Exception {
    read(pages, Encoding.TEXT, Shard.WHOLE);
    long bytes =
        PageFixture.bytes(pages.pages(), Encoding.TEXT).length
            + PageFixture.bytes(pages.edges(), Encoding.TEXT).length;

    assertThat(own())
        .contains("trace_etl_page_series " + (SERIES + 15 + SERIES) + ".0\n")
        .contains("trace_etl_page_bytes{encoding=\"text\",} " + (double) bytes + "\n")
        // As trace_etl_windows_total, which an alert compares with it.
        .contains("trace_etl_windows_folded_total 1.0\n")
        .contains("trace_etl_fold_unknown_rows_total 0.0\n")
        .contains("trace_etl_hidden_queues 0.0\n");
  }

  private String own() {
    return new String(telemetry.families(Format.TEXT), UTF_8);
  }

  @Test
  void edgesDoNotFollowTheWindowsOfSpans() {
    assertThat(pages.followers()).containsExactly(pages.pages());
  }

  @Test
  void theFeatureFailsAndEndsWithEither() {
    assertThat(pages.healthy()).isTrue();
    pages.edges().close();
    assertThat(pages.healthy()).isFalse();
    pages.close();
    assertThat(pages.pages().alive()).isFalse();
  }

  @Test
  void withoutEdgesThePageHasNoneOfTheirFamilies() throws Exception {
    var naming = PageFixture.naming(PageFixture.OTEL);
    PagesFeature spans = PagesFeature.of(naming, null, telemetry, Clocks.SYSTEM);
    try {
      spans.start(null);
      for (Encoding encoding : PageFixture.ENCODINGS) {
        byte[] page = plain(encoding, PageFixture.sent(spans.page(encoding)));
        assertThat(new String(page, UTF_8))
            .startsWith(PageFixture.text(spans.pages(), encoding))
            .contains("trace_etl_build_info")
            .doesNotContain("traces_service_graph");
      }
    } finally {
      spans.close();
    }
  }
}
