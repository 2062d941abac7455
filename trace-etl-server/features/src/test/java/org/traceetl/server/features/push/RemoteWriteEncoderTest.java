package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.features.push.PushFixture.definition;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.features.push.WriteMessages.Series;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

class RemoteWriteEncoderTest {
  private static final NativeTotals NONE = new NativeTotals();
  private static final SeriesDefinition SHOP = definition(0, "shop", "GET /a\"b\\", "2", "2");
  private static final String LABELS =
      "job=trace-etl|service_name=shop|span_kind=SPAN_KIND_SERVER|span_name=GET /a\"b\\"
          + "|status_code=STATUS_CODE_ERROR|trace_etl_queue=broker-a/3";

  private static WriteRequest request(PushNaming naming) {
    return new WriteRequest(naming, null);
  }

  private static PushedSeries series(PushNaming naming, SeriesDefinition definition) {
    return naming.series(PushFixture.QUEUE, definition, 1);
  }

  private static List<Series> encoded(
      PushNaming naming, WriteRequest request, int from, int to, Protocol protocol) {
    RemoteWriteEncoder encoder = new RemoteWriteEncoder(naming);
    assertThat(encoder.encode(request, from, to, protocol)).isTrue();
    byte[] message = WriteMessages.decompress(encoder.body(), encoder.length());
    assertThat(message).isEqualTo(encoder.message());
    List<Series> all = WriteMessages.read(protocol == Protocol.V2, message);
    assertThat(all.stream().mapToInt(one -> one.values().size() + one.histograms().size()).sum())
        .isEqualTo(request.samples(from, to));
    return all;
  }

  private static List<Series> encoded(PushNaming naming, WriteRequest request, Protocol protocol) {
    return encoded(naming, request, 0, request.size(), protocol);
  }

  private static WriteRequest oneSample(PushNaming naming, SampleExemplar exemplar) {
    WriteRequest request = request(naming);
    request.add(
        series(naming, SHOP),
        60_000,
        75_000,
        new long[] {9, 3, 2, 1, 9},
        1,
        1_500,
        250_000,
        NONE,
        Samples.NO_ROW,
        exemplar);
    return request;
  }

  private static String line(Series series) {
    List<String> labels = new ArrayList<>(series.labels());
    labels.removeIf(label -> label.startsWith("__name__=") || label.startsWith("le="));
    String le = series.label("le") == null ? "" : "{" + series.label("le") + "}";
    assertThat(String.join("|", labels)).isEqualTo(LABELS);
    return series.name() + le + " " + series.values() + " " + series.metadata();
  }

  @Test
  void classicHistogramsAndCountersHaveTheNamesOfThePage() {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC);
    String calls = "traces_span_metrics_calls_total";
    String duration = "traces_span_metrics_duration_seconds";
    String ofCalls = " 1 Spans, by service, name, kind and status.|";
    String ofDuration = " 3 Duration of spans in seconds.|seconds";
    String times = "@75000>60000]";

    assertThat(encoded(naming, oneSample(naming, null), Protocol.V2))
        .extracting(RemoteWriteEncoderTest::line)
        .containsExactly(
            calls + " [6.0" + times + ofCalls,
            duration + "_bucket{0.01} [3.0" + times + ofDuration,
            duration + "_bucket{0.1} [5.0" + times + ofDuration,
            duration + "_bucket{+Inf} [6.0" + times + ofDuration,
            duration + "_sum [1.50025" + times + ofDuration,
            duration + "_count [6.0" + times + ofDuration);
  }

  @ParameterizedTest
  @EnumSource(names = {"V1", "V2"})
  void labelsOfRulesAreSortedAmongTheOthers(Protocol protocol) {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC);
    SeriesDefinition definition =
        definition(0, "shop", "GET", "2", "0", "Zone", "eu", "le", "1", "m.n", "o", "odd");
    WriteRequest request = request(naming);
    PushedSeries series = series(naming, definition);
    request.add(
        series, 60_000, 75_000, new long[] {3, 2, 1}, 0, 1_500, 0, NONE, Samples.NO_ROW, null);

    assertThat(encoded(naming, request, protocol).get(1).labels())
        .containsExactly(
            "Zone=eu",
            "__name__=traces_span_metrics_duration_seconds_bucket",
            "job=trace-etl",
            "le=0.01",
            "m_n=o",
            "service_name=shop",
            "span_kind=SPAN_KIND_SERVER",
            "span_name=GET",
            "status_code=STATUS_CODE_UNSET",
            "trace_etl_queue=broker-a/3");
  }

  @Test
  void sizesAreACounterBesideTheBuckets() {
    PushNaming naming = PushFixture.sizes(null);
    WriteRequest request = new WriteRequest(naming, null);
    request.add(
        series(naming, definition(0, "shop", "GET /", "2", "0")),
        60_000,
        75_000,
        new long[] {3, 2, 1, 1L << 40},
        0,
        1_500,
        0,
        new NativeTotals(),
        Samples.NO_ROW,
        null);

    assertThat(encoded(naming, request, Protocol.V2))
        .filteredOn(series -> !series.name().endsWith("_bucket"))
        .extracting(series -> series.name() + " " + series.values())
        .containsExactly(
            "traces_span_metrics_calls_total [6.0@75000>60000]",
            "traces_span_metrics_duration_seconds_sum [1.5@75000>60000]",
            "traces_span_metrics_duration_seconds_count [6.0@75000>60000]",
            "traces_span_metrics_size_total [1.099511627776E12@75000>60000]");
  }

  @Test
  void olderVersionHasNoStart() {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC);
    assertThat(encoded(naming, oneSample(naming, null), Protocol.V1))
        .extracting(RemoteWriteEncoderTest::line)
        .contains(
            "traces_span_metrics_calls_total [6.0@75000] 1 Spans, by service, name, kind and"
                + " status.|",
            "traces_span_metrics_duration_seconds_bucket{0.1} [5.0@75000] 3 Duration of spans in"
                + " seconds.|seconds");
  }

  @Test
  void labelsAreSortedAroundNameAndBound() {
    PushNaming naming =
        PushFixture.naming(
            Kind.CLASSIC, Map.of("Zone", "1", "_a", "2", "job", "own", "service_name", "ignored"));
    for (Protocol protocol : Protocol.values()) {
      for (Series series : encoded(naming, oneSample(naming, null), protocol)) {
        List<String> names = series.labels().stream().map(label -> label.split("=", 2)[0]).toList();
        assertThat(names)
            .isSortedAccordingTo(Comparator.naturalOrder())
            .doesNotHaveDuplicates()
            .contains("Zone", "__name__", "_a", "job");
        assertThat(series.label("service_name")).isEqualTo("shop");
      }
    }
  }

  @Test
  void startThatIsNotBeforeTheSampleIsLeftOut() {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC);
    for (long start : new long[] {0, 75_000, 80_000}) {
      WriteRequest request = request(naming);
      request.add(
          series(naming, SHOP), start, 75_000, new long[3], 0, 0, 0, NONE, Samples.NO_ROW, null);
      assertThat(encoded(naming, request, Protocol.V2).getFirst().values())
          .containsExactly("0.0@75000");
    }
  }

  @Test
  void exemplarIsAtItsBucket() {
    PushNaming naming = PushFixture.naming(Kind.CLASSIC);
    var exemplar = new SampleExemplar(1, 0x0102, 0x0304, 0x05, 20_000_000, 74_000);
    for (Protocol protocol : Protocol.values()) {
      List<Series> all = encoded(naming, oneSample(naming, exemplar), protocol);
      assertThat(all.stream().filter(one -> !one.exemplars().isEmpty()).toList())
          .singleElement()
          .satisfies(one -> {
            assertThat(one.label("le")).isEqualTo("0.1");
            assertThat(one.exemplars())
                .containsExactly(
                    "[span_id=0000000000000005, trace_id=00000000000001020000000000000304]"
                        + " 0.02@74000");
          });
    }
  }

  @Test
  void nativeHistogramsHaveTheirBuckets() {
    PushNaming naming = PushFixture.naming(Kind.NATIVE);
    NativeBuckets buckets = PushFixture.nativeBuckets(naming);
    int first = 1;
    NativeTotals natives = new NativeTotals();
    natives.set(
        4,
        new char[] {0, (char) first, (char) (first + 1), (char) (first + 5)},
        new long[] {2, 7, 5, 1});
    WriteRequest request = request(naming);
    request.add(series(naming, SHOP), 1, 30_000, new long[] {15}, 0, 2_000, 0, natives, 4, null);
    // The request has its own copy.
    natives.clear(4);

    for (Protocol protocol : Protocol.values()) {
      List<Series> all = encoded(naming, request, protocol);
      assertThat(all)
          .extracting(Series::name)
          .containsExactly(
              "traces_span_metrics_calls_total", "traces_span_metrics_duration_seconds");
      assertThat(all.getLast().histograms())
          .containsExactly(
              "count=15 zero=2 schema=0 threshold=2.938735877055719E-39 spans=["
                  + buckets.index(first)
                  + ":2, 3:1] deltas=[7, -2, -4] sum=2.0@30000"
                  + (protocol == Protocol.V2 ? ">1" : ""));
    }
  }

  @Test
  void staleMarkersEndAllSeries() {
    PushNaming naming = PushFixture.naming(Kind.BOTH);
    WriteRequest request = request(naming);
    request.addStale(series(naming, SHOP), 90_000);
    for (Protocol protocol : Protocol.values()) {
      List<Series> all = encoded(naming, request, protocol);
      assertThat(all).hasSize(7);
      for (Series series : all) {
        boolean isNative = series.name().equals("traces_span_metrics_duration_seconds");
        assertThat(isNative ? series.histograms() : series.values())
            .singleElement()
            .asString()
            .endsWith(isNative ? "sum=stale@90000" : "stale@90000");
      }
    }
  }

  /** A fixed message, so that a change of the encoding shows. */
  @Test
  void messagesAreAsBefore() {
    PushNaming naming = PushFixture.naming(Kind.NATIVE, Map.of());
    WriteRequest request = request(naming);
    request.add(
        series(naming, definition(0, "a", "b", "1", "0")),
        60_000,
        75_000,
        new long[] {1},
        0,
        1,
        0,
        NONE,
        Samples.NO_ROW,
        null);
    RemoteWriteEncoder encoder = new RemoteWriteEncoder(naming);
    assertThat(encoder.encode(request, 0, 1, Protocol.V2)).isTrue();
    assertThat(HexFormat.of().formatHex(encoder.message())).isEqualTo(V2);
    assertThat(encoder.encode(request, 0, 1, Protocol.V1)).isTrue();
    assertThat(HexFormat.of().formatHex(encoder.message())).isEqualTo(V1);
  }

  private static final String V2 =
      "2200220c736572766963655f6e616d6522016122097370616e5f6b696e6422125350414e5f4b494e"
          + "445f494e5445524e414c22097370616e5f6e616d65220162220b7374617475735f636f6465221153"
          + "54415455535f434f44455f554e534554220f74726163655f65746c5f7175657565220a62726f6b65"
          + "722d612f3322077365636f6e6473221d4475726174696f6e206f66207370616e7320696e20736563"
          + "6f6e64732e22085f5f6e616d655f5f22247472616365735f7370616e5f6d6574726963735f647572"
          + "6174696f6e5f7365636f6e647322295370616e732c20627920736572766963652c206e616d652c20"
          + "6b696e6420616e64207374617475732e221f7472616365735f7370616e5f6d6574726963735f6361"
          + "6c6c735f746f74616c2a270a0c0d100102030405060708090a121109000000000000f03f10f8c904"
          + "18e0d4032a040801180f2a370a0c0d0e0102030405060708090a1a1f080019fca9f1d24d62503f20"
          + "0029000000000000f03778f8c9048801e0d4032a060803180c200b";
  private static final String V1 =
      "1a50080312247472616365735f7370616e5f6d6574726963735f6475726174696f6e5f7365636f6e"
          + "6473221d4475726174696f6e206f66207370616e7320696e207365636f6e64732e2a077365636f6e"
          + "64731a4e0801121f7472616365735f7370616e5f6d6574726963735f63616c6c735f746f74616c22"
          + "295370616e732c20627920736572766963652c206e616d652c206b696e6420616e64207374617475"
          + "732e0ac1010a2b0a085f5f6e616d655f5f121f7472616365735f7370616e5f6d6574726963735f63"
          + "616c6c735f746f74616c0a110a0c736572766963655f6e616d651201610a1f0a097370616e5f6b69"
          + "6e6412125350414e5f4b494e445f494e5445524e414c0a0e0a097370616e5f6e616d651201620a20"
          + "0a0b7374617475735f636f646512115354415455535f434f44455f554e5345540a1d0a0f74726163"
          + "655f65746c5f7175657565120a62726f6b65722d612f33120d09000000000000f03f10f8c9040ad3"
          + "010a300a085f5f6e616d655f5f12247472616365735f7370616e5f6d6574726963735f6475726174"
          + "696f6e5f7365636f6e64730a110a0c736572766963655f6e616d651201610a1f0a097370616e5f6b"
          + "696e6412125350414e5f4b494e445f494e5445524e414c0a0e0a097370616e5f6e616d651201620a"
          + "200a0b7374617475735f636f646512115354415455535f434f44455f554e5345540a1d0a0f747261"
          + "63655f65746c5f7175657565120a62726f6b65722d612f33221a080019fca9f1d24d62503f200029"
          + "000000000000f03778f8c904";

  @Property(tries = 100)
  void bothVersionsAndAllPartsSayTheSame(@ForAll Random random) {
    PushNaming naming = PushFixture.naming(Kind.values()[random.nextInt(3)]);
    WriteRequest request = request(naming);
    int entries = 1 + random.nextInt(40);
    for (int i = 0; i < entries; i++) {
      add(request, naming, random, i);
    }

    List<Series> v2 = encoded(naming, request, Protocol.V2);
    List<Series> v1 = encoded(naming, request, Protocol.V1);
    assertThat(v1).hasSameSizeAs(v2);
    for (int i = 0; i < v2.size(); i++) {
      assertThat(v1.get(i)).isEqualTo(withoutStart(v2.get(i)));
    }
    int cut = random.nextInt(entries + 1);
    List<Series> parts = new ArrayList<>(encoded(naming, request, 0, cut, Protocol.V2));
    parts.addAll(encoded(naming, request, cut, entries, Protocol.V2));
    assertThat(parts).isEqualTo(v2);
  }

  private static void add(WriteRequest request, PushNaming naming, Random random, int number) {
    SeriesDefinition definition =
        definition(
            number,
            random.nextBoolean() ? "shop" : "ü€𝄞",
            "GET\n" + random.nextInt(5),
            random.nextBoolean() ? null : "3",
            "0");
    PushedSeries series = series(naming, definition);
    long at = 15_000L * random.nextInt(1_000_000);
    if (random.nextInt(5) == 0) {
      request.addStale(series, at);
      return;
    }
    long[] counts = new long[naming.stride()];
    Arrays.setAll(counts, i -> random.nextLong(1L << 40));
    NativeTotals natives = new NativeTotals();
    char[] buckets =
        random
            .ints(1, 200)
            .limit(random.nextInt(30))
            .distinct()
            .sorted()
            .collect(
                StringBuilder::new,
                (all, bucket) -> all.append((char) bucket),
                StringBuilder::append)
            .toString()
            .toCharArray();
    natives.set(0, buckets, random.longs(buckets.length, 0, 1L << 40).toArray());
    request.add(
        series,
        random.nextLong(at + 1_000_000),
        at,
        counts,
        0,
        random.nextLong(1L << 50),
        random.nextInt(1_000_000),
        natives,
        0,
        random.nextBoolean()
            ? null
            : new SampleExemplar(
                random.nextInt(3),
                random.nextLong(),
                random.nextLong(),
                random.nextLong(),
                random.nextLong(Long.MAX_VALUE),
                at));
  }

  private static Series withoutStart(Series series) {
    return new Series(
        series.labels(),
        series.values().stream().map(value -> value.replaceFirst(">.*", "")).toList(),
        series.histograms().stream().map(value -> value.replaceFirst(">.*", "")).toList(),
        series.exemplars(),
        series.metadata());
  }
}
