package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.server.features.push.PushFixture.definition;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.features.push.WriteMessages.Series;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

class OtlpEncoderTest {
  private static final NativeTotals NONE = new NativeTotals();
  private static final SeriesDefinition SHOP = definition(0, "shop", "GET /", "2", "2");
  private static final String CALLS = "traces_span_metrics_calls";
  private static final String DURATION = "traces_span_metrics_duration_seconds";
  private static final String OF_CALLS = "trace-etl|Spans, by service, name, kind and status.|";
  private static final String OF_DURATION = "trace-etl|Duration of spans in seconds.|s";

  private static PushedSeries series(PushNaming naming, SeriesDefinition definition) {
    return naming.series(PushFixture.QUEUE, definition, 1);
  }

  private static List<Series> encoded(PushNaming naming, WriteRequest request, int from, int to) {
    OtlpEncoder encoder = new OtlpEncoder(naming, false);
    assertThat(encoder.encode(request, from, to, Protocol.OTLP)).isTrue();
    byte[] message = OtlpMessages.decompress(encoder.body(), encoder.length());
    assertThat(message).isEqualTo(encoder.message());
    encoder.encode(request, from, to, Protocol.OTLP_GRPC);
    assertThat(Arrays.copyOf(encoder.body(), encoder.length())).isEqualTo(message);
    List<Series> all = OtlpMessages.read(message);
    assertThat(all).hasSize(request.samples(from, to));
    return all;
  }

  private static List<Series> encoded(PushNaming naming, WriteRequest request) {
    return encoded(naming, request, 0, request.size());
  }

  @Test
  void classicHistogramsAndCountersHaveTheNamesOfThePage() {
    PushNaming naming = PushFixture.otlp(Kind.CLASSIC);
    WriteRequest request = new WriteRequest(naming, null);
    var exemplar = new SampleExemplar(1, 0x0102, 0x0304, 0x05, 20_000_000, 74_000);
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

    List<Series> all = encoded(naming, request);

    assertThat(all)
        .extracting(Series::values)
        .containsExactly(
            List.of("6.0@75000>60000"),
            List.of("count=6 sum=1.50025 buckets=[3, 2, 1] bounds=[0.01, 0.1]@75000>60000"));
    assertThat(all).extracting(Series::metadata).containsExactly(OF_CALLS, OF_DURATION);
    assertThat(all.getFirst().labels())
        .containsExactly(
            "resource.service.name=shop",
            "resource.deployment.environment.name=prod",
            "__name__=" + CALLS,
            "cluster=eu",
            "service_name=shop",
            "span_kind=SPAN_KIND_SERVER",
            "span_name=GET /",
            "status_code=STATUS_CODE_ERROR",
            "trace_etl_queue=broker-a/3");
    assertThat(all.getLast().exemplars())
        .containsExactly("00000000000001020000000000000304 0000000000000005 0.02@74000");
  }

  @Test
  void sizesAreACounterBesideTheBuckets() {
    PushNaming naming = PushFixture.sizes(Map.of());
    WriteRequest request = new WriteRequest(naming, null);
    long[] counts = {3, 2, 1, 700};
    request.add(
        series(naming, SHOP), 60_000, 75_000, counts, 0, 1_500, 0, NONE, Samples.NO_ROW, null);

    assertThat(encoded(naming, request))
        .extracting(Series::name, series -> series.values().getFirst())
        .containsExactly(
            tuple(CALLS, "6.0@75000>60000"),
            tuple(DURATION, "count=6 sum=1.5 buckets=[3, 2, 1] bounds=[0.01, 0.1]@75000>60000"),
            tuple("traces_span_metrics_size", "700.0@75000>60000"));
  }

  @Test
  void deltasAreMarkedAsSuch() {
    for (Kind kind : Kind.values()) {
      PushNaming naming = PushFixture.otlp(kind);
      NativeTotals natives = new NativeTotals();
      natives.set(0, new char[] {1}, new long[] {4});
      WriteRequest request = new WriteRequest(naming, null);
      long[] counts = new long[naming.stride()];
      counts[0] = 4;
      request.add(series(naming, SHOP), 60_000, 75_000, counts, 0, 40, 0, natives, 0, null);
      OtlpEncoder encoder = new OtlpEncoder(naming, true);
      assertThat(encoder.encode(request, 0, 1, Protocol.OTLP)).isTrue();

      assertThat(OtlpMessages.readDeltas(encoder.message()))
          .extracting(series -> series.values().getFirst().replaceFirst(".*@", ""))
          .containsExactly("75000>60000", "75000>60000");
      assertThatThrownBy(() -> OtlpMessages.read(encoder.message()))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void startThatIsNotBeforeThePointIsLeftOut() {
    PushNaming naming = PushFixture.otlp(Kind.CLASSIC);
    for (long start : new long[] {0, 75_000, 80_000}) {
      WriteRequest request = new WriteRequest(naming, null);
      request.add(
          series(naming, SHOP), start, 75_000, new long[3], 0, 0, 0, NONE, Samples.NO_ROW, null);
      assertThat(encoded(naming, request).getFirst().values()).containsExactly("0.0@75000");
    }
  }

  /** With both kinds, a metric cannot have two types. */
  @Test
  void nativeHistogramsAreExponential() {
    for (Kind kind : List.of(Kind.NATIVE, Kind.BOTH)) {
      PushNaming naming = PushFixture.otlp(kind);
      int least = PushFixture.nativeBuckets(naming).index(1);
      NativeTotals natives = new NativeTotals();
      natives.set(4, new char[] {0, 1, 2, 6}, new long[] {2, 7, 5, 1});
      WriteRequest request = new WriteRequest(naming, null);
      long[] counts = new long[naming.stride()];
      counts[0] = 15;
      request.add(series(naming, SHOP), 1, 30_000, counts, 0, 2_000, 0, natives, 4, null);

      assertThat(encoded(naming, request))
          .extracting(Series::name, series -> series.values().getFirst())
          .containsExactly(
              tuple(CALLS, "15.0@30000>1"),
              tuple(
                  DURATION,
                  "count=15 sum=2.0 scale=0 zero=2 buckets={%d=7, %d=5, %d=1}@30000>1"
                      .formatted(least - 1, least, least + 4)));
    }
  }

  /** The bounds of OTLP: bucket i has durations above base^i and at most base^(i+1). */
  @Property(tries = 300)
  void durationsAreInTheirBuckets(@ForAll Random random) {
    PushNaming naming = PushFixture.otlp(Kind.NATIVE);
    NativeBuckets buckets = PushFixture.nativeBuckets(naming);
    long nanos = 1 + (random.nextLong(1L << 62) >> random.nextInt(62));
    NativeTotals natives = new NativeTotals();
    natives.set(0, new char[] {(char) buckets.of(nanos)}, new long[] {1});
    WriteRequest request = new WriteRequest(naming, null);
    request.add(series(naming, SHOP), 1, 30_000, new long[] {1}, 0, 1, 0, natives, 0, null);

    String value = encoded(naming, request).getLast().values().getFirst();
    int index = Integer.parseInt(value.replaceFirst(".*\\{(-?\\d+)=1}.*", "$1"));

    // Scale 0; bounds are rounded down to nanoseconds.
    assertThat(nanos / 1e9).isGreaterThanOrEqualTo(Math.scalb(1.0, index));
    assertThat(nanos / 1e9).isLessThanOrEqualTo(Math.scalb(1.0, index + 1));
  }

  @Test
  void seriesEndWithoutValues() {
    Map<Kind, String> ends =
        Map.of(
            Kind.CLASSIC, "stale count=0 sum=0.0 buckets=[0, 0, 0] bounds=[0.01, 0.1]@90000",
            Kind.NATIVE, "stale count=0 sum=0.0 scale=0 zero=0 buckets={}@90000");
    ends.forEach((kind, end) -> {
      PushNaming naming = PushFixture.otlp(kind);
      WriteRequest request = new WriteRequest(naming, null);
      request.addStale(series(naming, SHOP), 90_000);
      assertThat(encoded(naming, request))
          .extracting(Series::values)
          .containsExactly(List.of("stale@90000"), List.of(end));
    });
  }

  /** A fixed message, so that a change of the encoding shows. */
  @Test
  void messagesAreAsBefore() {
    for (Kind kind : List.of(Kind.CLASSIC, Kind.NATIVE)) {
      PushNaming naming = PushFixture.otlp(kind);
      NativeTotals natives = new NativeTotals();
      natives.set(0, new char[] {0, 29, 31}, new long[] {1, 2, 3});
      WriteRequest request = new WriteRequest(naming, null);
      long[] counts = new long[naming.stride()];
      counts[0] = 6;
      request.add(
          series(naming, definition(0, "a", "b", "1", "0")),
          60_000,
          75_000,
          counts,
          0,
          1,
          0,
          natives,
          0,
          new SampleExemplar(0, 1, 2, 3, 4_000_000, 74_000));
      OtlpEncoder encoder = new OtlpEncoder(naming, false);
      assertThat(encoder.encode(request, 0, 1, Protocol.OTLP)).isTrue();
      assertThat(HexFormat.of().formatHex(encoder.message()))
          .isEqualTo(kind == Kind.CLASSIC ? CLASSIC : NATIVE);
    }
  }

  @Test
  void aRequestThatWouldBeTooLargeIsNotEncoded() {
    PushNaming naming = PushFixture.otlp(new HistogramConfig(null, Kind.NATIVE, 8));
    NativeTotals natives = new NativeTotals();
    char highest = 16_000;
    natives.set(0, new char[] {1, highest}, new long[] {1, 1});
    WriteRequest request = new WriteRequest(naming, null);
    int points = RequestEncoder.MAX_BYTES / highest + 1;
    for (int i = 0; i < points; i++) {
      request.add(series(naming, SHOP), 1, 2, new long[] {2}, 0, 1, 0, natives, 0, null);
    }
    OtlpEncoder encoder = new OtlpEncoder(naming, false);

    assertThat(encoder.encode(request, 0, points, Protocol.OTLP)).isFalse();
    assertThat(encoder.encode(request, 0, points / 2, Protocol.OTLP)).isTrue();
    assertThat(encoder.message().length).isGreaterThan(points / 2 * highest);
  }

  private static final String CLASSIC =
      "0acf050a3c0a130a0c736572766963652e6e616d6512030a01610a250a1b6465706c6f796d656e74"
          + "2e656e7669726f6e6d656e742e6e616d6512060a0470726f64128e050a0b0a0974726163652d6574"
          + "6c128b020a197472616365735f7370616e5f6d6574726963735f63616c6c7312295370616e732c20"
          + "627920736572766963652c206e616d652c206b696e6420616e64207374617475732e3ac2010abb01"
          + "11005847f80d00000019002e5976110000003106000000000000003a0f0a07636c75737465721204"
          + "0a0265753a130a0c736572766963655f6e616d6512030a01613a210a097370616e5f6b696e641214"
          + "0a125350414e5f4b494e445f494e5445524e414c3a100a097370616e5f6e616d6512030a01623a22"
          + "0a0b7374617475735f636f646512130a115354415455535f434f44455f554e5345543a1f0a0f7472"
          + "6163655f65746c5f7175657565120c0a0a62726f6b65722d612f331002180112f0020a2474726163"
          + "65735f7370616e5f6d6574726963735f6475726174696f6e5f7365636f6e6473121d447572617469"
          + "6f6e206f66207370616e7320696e207365636f6e64732e1a01734aa5020aa00211005847f80d0000"
          + "0019002e59761100000021060000000000000029fca9f1d24d62503f321806000000000000000000"
          + "00000000000000000000000000003a107b14ae47e17a843f9a9999999999b93f422e110064be3a11"
          + "00000019fca9f1d24d62703f220800000000000000032a1000000000000000010000000000000002"
          + "4a0f0a07636c757374657212040a0265754a130a0c736572766963655f6e616d6512030a01614a21"
          + "0a097370616e5f6b696e6412140a125350414e5f4b494e445f494e5445524e414c4a100a09737061"
          + "6e5f6e616d6512030a01624a220a0b7374617475735f636f646512130a115354415455535f434f44"
          + "455f554e5345544a1f0a0f74726163655f65746c5f7175657565120c0a0a62726f6b65722d612f33"
          + "1002";
  private static final String NATIVE =
      "0ab7050a3c0a130a0c736572766963652e6e616d6512030a01610a250a1b6465706c6f796d656e74"
          + "2e656e7669726f6e6d656e742e6e616d6512060a0470726f6412f6040a0b0a0974726163652d6574"
          + "6c128b020a197472616365735f7370616e5f6d6574726963735f63616c6c7312295370616e732c20"
          + "627920736572766963652c206e616d652c206b696e6420616e64207374617475732e3ac2010abb01"
          + "11005847f80d00000019002e5976110000003106000000000000003a0f0a07636c75737465721204"
          + "0a0265753a130a0c736572766963655f6e616d6512030a01613a210a097370616e5f6b696e641214"
          + "0a125350414e5f4b494e445f494e5445524e414c3a100a097370616e5f6e616d6512030a01623a22"
          + "0a0b7374617475735f636f646512130a115354415455535f434f44455f554e5345543a1f0a0f7472"
          + "6163655f65746c5f7175657565120c0a0a62726f6b65722d612f331002180112d8020a2474726163"
          + "65735f7370616e5f6d6574726963735f6475726174696f6e5f7365636f6e6473121d447572617469"
          + "6f6e206f66207370616e7320696e207365636f6e64732e1a0173528d020a88020a0f0a07636c7573"
          + "74657212040a0265750a130a0c736572766963655f6e616d6512030a01610a210a097370616e5f6b"
          + "696e6412140a125350414e5f4b494e445f494e5445524e414c0a100a097370616e5f6e616d651203"
          + "0a01620a220a0b7374617475735f636f646512130a115354415455535f434f44455f554e5345540a"
          + "1f0a0f74726163655f65746c5f7175657565120c0a0a62726f6b65722d612f3311005847f80d0000"
          + "0019002e59761100000021060000000000000029fca9f1d24d62503f300039010000000000000042"
          + "07080312030200035a2e110064be3a1100000019fca9f1d24d62703f220800000000000000032a10"
          + "000000000000000100000000000000021002";

  /** One point of the model: labels, then value. */
  private record Point(List<String> labels, String value, List<String> exemplars) {}

  @Property(tries = 100)
  void allPointsAreThoseOfAModel(@ForAll Random random) {
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    PushNaming naming = PushFixture.otlp(kind);
    WriteRequest request = new WriteRequest(naming, null);
    int entries = 1 + random.nextInt(40);
    List<List<Point>> expected = new ArrayList<>();
    for (int i = 0; i < entries; i++) {
      expected.add(add(request, naming, random));
    }

    assertThat(points(encoded(naming, request)))
        .isEqualTo(byLabels(expected.stream().flatMap(List::stream).toList()));
    int cut = random.nextInt(entries + 1);
    List<Series> parts = new ArrayList<>(encoded(naming, request, 0, cut));
    parts.addAll(encoded(naming, request, cut, entries));
    assertThat(points(parts)).isEqualTo(byLabels(expected.stream().flatMap(List::stream).toList()));
  }

  private static Map<String, List<Point>> points(List<Series> all) {
    return byLabels(
        all.stream()
            .map(one -> new Point(one.labels(), one.values().getFirst(), one.exemplars()))
            .toList());
  }

  /** The points of each series stay in their order. */
  private static Map<String, List<Point>> byLabels(List<Point> points) {
    Map<String, List<Point>> all = new TreeMap<>();
    points.forEach(point ->
        all.computeIfAbsent(point.labels().toString(), absent -> new ArrayList<>()).add(point));
    return all;
  }

  /** Adds an entry and returns its points. */
  private static List<Point> add(WriteRequest request, PushNaming naming, Random random) {
    String service = List.of("shop", "ü€𝄞", "cart").get(random.nextInt(3));
    String name = "GET\n" + random.nextInt(3);
    PushedSeries series = series(naming, definition(random.nextInt(50), service, name, "3", "0"));
    List<String> resource =
        List.of("resource.service.name=" + service, "resource.deployment.environment.name=prod");
    List<String> attributes =
        List.of(
            "cluster=eu",
            "service_name=" + service,
            "span_kind=SPAN_KIND_CLIENT",
            "span_name=" + name,
            "status_code=STATUS_CODE_UNSET",
            "trace_etl_queue=broker-a/3");
    List<String> ofCalls = new ArrayList<>(resource);
    ofCalls.add("__name__=" + CALLS);
    ofCalls.addAll(attributes);
    List<String> ofDuration = new ArrayList<>(resource);
    ofDuration.add("__name__=" + DURATION);
    ofDuration.addAll(attributes);

    boolean isNative = PushFixture.nativeBuckets(naming) != null;
    long at = 15_000L * (1 + random.nextInt(1_000_000));
    if (random.nextInt(5) == 0) {
      request.addStale(series, at);
      String end =
          isNative
              ? "stale count=0 sum=0.0 scale=0 zero=0 buckets={}@"
              : "stale count=0 sum=0.0 buckets=[0, 0, 0] bounds=[0.01, 0.1]@";
      return List.of(
          new Point(ofCalls, "stale@" + at, List.of()), new Point(ofDuration, end + at, List.of()));
    }
    long[] counts = new long[naming.stride()];
    Arrays.setAll(counts, i -> random.nextLong(1L << 40));
    TreeMap<Integer, Long> buckets = new TreeMap<>();
    for (int i = random.nextInt(30); i > 0; i--) {
      buckets.put(random.nextInt(60), 1 + random.nextLong(1L << 40));
    }
    NativeTotals natives = new NativeTotals();
    char[] numbers = new char[buckets.size()];
    long[] ofNumbers = new long[buckets.size()];
    int row = 0;
    for (Map.Entry<Integer, Long> bucket : buckets.entrySet()) {
      numbers[row] = (char) (int) bucket.getKey();
      ofNumbers[row++] = bucket.getValue();
    }
    natives.set(7, numbers, ofNumbers);
    long start = random.nextBoolean() ? 0 : 1 + random.nextLong(at - 1);
    long millis = random.nextLong(1L << 40);
    boolean hasExemplar = random.nextBoolean();
    request.add(
        series,
        start,
        at,
        counts,
        0,
        millis,
        500_000,
        natives,
        7,
        hasExemplar ? new SampleExemplar(0, 1, 2, 3, 4_000_000, at) : null);

    String times = "@" + at + (start == 0 ? "" : ">" + start);
    long spans = Arrays.stream(counts).sum();
    double sum = (millis * 1_000_000 + 500_000) / 1e9;
    long inBuckets = buckets.values().stream().mapToLong(count -> count).sum();
    Long zero = buckets.remove(0);
    TreeMap<Integer, Long> byIndex = new TreeMap<>();
    buckets.forEach((number, count) ->
        byIndex.put(
            PushFixture.nativeBuckets(naming) == null
                ? number
                : PushFixture.nativeBuckets(naming).index(number) - 1,
            count));
    String value =
        isNative
            ? "count=%d sum=%s scale=0 zero=%d buckets=%s"
                .formatted(inBuckets, sum, zero == null ? 0 : zero, byIndex)
            : "count=%d sum=%s buckets=%s bounds=[0.01, 0.1]"
                .formatted(spans, sum, Arrays.toString(counts));
    return List.of(
        new Point(ofCalls, (double) spans + times, List.of()),
        new Point(
            ofDuration,
            value + times,
            hasExemplar
                ? List.of("00000000000000010000000000000002 0000000000000003 0.004@" + at)
                : List.of()));
  }
}
