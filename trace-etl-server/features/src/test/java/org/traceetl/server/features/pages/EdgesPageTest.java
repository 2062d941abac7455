package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.expose.EdgeNaming;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Edges on pages: each measure of an edge is in its family, under the labels of the edge. */
class EdgesPageTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final QueueId OTHER = new QueueId("broker-b", 0);
  private static final EdgeNaming NAMING = new EdgeNaming(PageFixture.BOUNDS, false, List.of());

  /** A window with all measures: a call, a message, a database, unpaired halves, overflow. */
  static Windows window(QueueId queue) {
    return Windows.of(queue, PageFixture.STRIDE)
        .create(0, series("shop", "pay", EdgeMeasure.REQUESTS, null))
        .row(0, 0, 5)
        .create(1, series("shop", "pay", EdgeMeasure.FAILED, null))
        .row(1, 0, 2)
        .create(2, series("shop", "pay", EdgeMeasure.SERVER, null))
        .row(2, 12_345_678, 3, 2, 0, 0)
        .create(3, series("shop", "pay", EdgeMeasure.CLIENT, null))
        .row(3, 90_000_000_000L, 0, 1, 0, 4)
        .create(4, series("shop", "pay", EdgeMeasure.LATENCY, null))
        .row(4, 89_987_654_322L, 1, 0, 0, 4)
        .create(5, series("shop", "mail", EdgeMeasure.REQUESTS, "messaging_system"))
        .row(5, 0, 7)
        .create(6, series("shop", "mail", EdgeMeasure.MESSAGING, "messaging_system"))
        .row(6, 7_000_000, 7)
        .create(7, series("shop", "a \"quoted\\back\nslash\"", EdgeMeasure.CLIENT, "database"))
        .row(7, 1_000_000_000, 0, 0, 1)
        .create(8, series("shop", "", EdgeMeasure.UNPAIRED_CLIENT, null))
        .row(8, 0, 11)
        .create(9, series("shop", "", EdgeMeasure.UNPAIRED_SERVER, null))
        .row(9, 0, 13)
        .create(overflow(10, "shop", EdgeMeasure.REQUESTS))
        .row(10, 0, 17)
        .create(overflow(11, "shop", EdgeMeasure.UNPAIRED_SERVER))
        .row(11, 0, 19)
        .create(13, series("shop", "", EdgeMeasure.DROPPED_CLIENT, null))
        .row(13, 0, 29)
        .create(14, series("shop", "", EdgeMeasure.DROPPED_SERVER, null))
        .row(14, 0, 31)
        .create(12, "shop", "pay", "15", "0", "of a later release")
        .row(12, 0, 23);
  }

  private static String[] series(
      String application, String peer, EdgeMeasure measure, String connectionType) {
    return new String[] {application, peer, Integer.toString(measure.kind()), "0", connectionType};
  }

  private static SeriesDefinition overflow(int series, String application, EdgeMeasure measure) {
    String kind = Integer.toString(measure.kind());
    return new SeriesDefinition(
        series, Windows.CREATED_MILLIS, true, Arrays.asList(application, null, kind, "0", null));
  }

  @ParameterizedTest
  @EnumSource(names = {"TEXT", "OPENMETRICS", "OPENMETRICS_2"})
  void pageIsAsKept(Encoding encoding) throws IOException {
    try (SpanPages pages = PageFixture.started(NAMING)) {
      pages.window(window(Windows.QUEUE).seal());

      String page = PageFixture.text(pages, encoding);

      Path golden = GOLDEN.resolve("edges-" + encoding.name().toLowerCase(Locale.ROOT) + ".txt");
      if (Boolean.getBoolean("golden.update")) {
        Files.writeString(golden, page);
      }
      assertThat(page).isEqualTo(Files.readString(golden, StandardCharsets.UTF_8));
    }
  }

  @Test
  void protobufSaysWhatOpenMetricsSays() {
    try (SpanPages pages = PageFixture.started(NAMING)) {
      pages.window(window(Windows.QUEUE).seal());
      pages.window(window(OTHER).seal());
      Map<Samples.Key, Double> text = new HashMap<>();
      Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS))
          .values
          .forEach((key, value) -> text.put(key, value.doubleValue()));

      assertThat(ProtobufPageTest.values(PageFixture.bytes(pages, Encoding.PROTOBUF)))
          .isEqualTo(text);
    }
  }

  @Test
  void nativeBucketsAreInSeconds() {
    var histogram =
        new HistogramConfig(PageFixture.BOUNDS.boundsMillis(), HistogramConfig.Kind.NATIVE, 0);
    var naming = new EdgeNaming(histogram, false, List.of());
    int ofOneSecond = NativeBuckets.of(0, 1_000_000_000).of(1_000_000_000);
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(
          Windows.of(Windows.QUEUE, naming.stride())
              .create(0, series("shop", "pay", EdgeMeasure.SERVER, null))
              .row(0, 2_000_000_000, 2)
              .natives(Map.of(ofOneSecond, 2L))
              .seal());
      Samples page = Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS_2));

      assertThat(page.natives.values()).containsExactly(Map.of(0, 2L));
    }
  }

  /** Whatever the ends are called, no sample is lost, doubled, or in another's family. */
  @Property(tries = 200)
  void eachQueueShowsItsPartOfAnEdgeOnce(@ForAll long seed) {
    var random = new Random(seed);
    Map<Samples.Key, Long> expected = new HashMap<>();
    try (SpanPages pages = PageFixture.started(NAMING)) {
      for (QueueId queue : List.of(Windows.QUEUE, OTHER)) {
        Windows window = Windows.of(queue, PageFixture.STRIDE);
        Set<List<String>> distinct = new HashSet<>();
        for (int series = 0; series < 200; series++) {
          EdgeMeasure measure = EdgeMeasure.of(1 + random.nextInt(EdgeMeasure.values().length));
          String[] values =
              series(
                  one(random, "", "a", "b"),
                  one(random, "", "a", "b", "c\"\n"),
                  measure,
                  one(random, null, "database"));
          if (distinct.add(Arrays.asList(values))) {
            long count = random.nextLong(1L << 40);
            window.create(series, values).row(series, random.nextLong(1L << 40), 0, count);
            expected.merge(sample(measure, values), count, Long::sum);
          }
        }
        pages.window(window.seal());
      }
      Map<Samples.Key, Long> found = new HashMap<>();
      Samples.parse(PageFixture.text(pages, Encoding.TEXT))
          .values
          .forEach((key, value) -> {
            if (key.name().endsWith("_total") || key.name().endsWith("_count")) {
              found.merge(withoutQueue(key), value.longValueExact(), Long::sum);
            }
          });

      assertThat(found).isEqualTo(expected);
    }
  }

  private static String one(Random random, String... of) {
    return of[random.nextInt(of.length)];
  }

  private static Samples.Key sample(EdgeMeasure measure, String... values) {
    boolean isServer = measure.isOfServer();
    Map<String, String> labels = new TreeMap<>();
    labels.put(isServer ? "server" : "client", values[0]);
    labels.put(isServer ? "client" : "server", values[1]);
    labels.put("connection_type", values[4] == null ? "" : values[4]);
    boolean isMoved = measure == EdgeMeasure.MOVED_CLIENT || measure == EdgeMeasure.MOVED_SERVER;
    labels.put("reason", isMoved ? "moved" : "");
    labels.values().removeIf(String::isEmpty);
    String name =
        switch (measure) {
          case REQUESTS -> "request_total";
          case FAILED -> "request_failed_total";
          case SERVER -> "request_server_seconds_count";
          case CLIENT -> "request_client_seconds_count";
          case MESSAGING -> "request_messaging_system_seconds_count";
          case LATENCY -> "request_latency_seconds_count";
          case UNPAIRED_CLIENT, UNPAIRED_SERVER, MOVED_CLIENT, MOVED_SERVER ->
              "unpaired_spans_total";
          case DROPPED_CLIENT, DROPPED_SERVER -> "dropped_spans_total";
        };
    return new Samples.Key("traces_service_graph_" + name, labels);
  }

  private static Samples.Key withoutQueue(Samples.Key key) {
    assertThat(key.labels()).containsKey(MetricsConfig.QUEUE_LABEL);
    Map<String, String> labels =
        key.labels().entrySet().stream()
            .filter(label -> !label.getKey().equals(MetricsConfig.QUEUE_LABEL))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    return new Samples.Key(key.name(), labels);
  }
}
