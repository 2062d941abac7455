package org.traceetl.agent.source.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.source.payload.CountingSink;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import org.traceetl.proto.ring.RingCursor;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingGolden;
import org.traceetl.proto.ring.RingHeader;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

final class RingSpanDecoderTest {
  private static final int CLIENT = 3;
  private static final int CONSUMER = 5;

  private static final RingSpan FULL =
      span(
          "SELECT carts",
          RingGolden.ordered(
              "text",
              "caf\u00e9",
              "rows",
              -3L,
              "least",
              Long.MIN_VALUE,
              "retry",
              true,
              "cached",
              false,
              "ratio",
              0.25,
              "tables",
              new RingSpan.Json("[\"carts\"]"),
              "plan",
              new RingSpan.Base64("AP8=")));

  @TempDir private Path directory;

  private final LongAdder leftOut = new LongAdder();
  private final RingSpanDecoder decoder = new RingSpanDecoder(leftOut);
  private final byte[] payload = new byte[1 << 20];
  private final RingDictionary dictionary = new RingDictionary();
  private RingWriter.Shape shape = RingWriter.Shape.smallest("checkout").ringBytes(1 << 20);
  private RingSpanDecoder.Resource resource;
  private byte[] entry = new byte[0];
  private int length;

  @BeforeEach
  void makeResource() {
    resource = RingSpanDecoder.Resource.read(new byte[0], 0, dictionary.strings());
  }

  @Test
  void valuesBecomeTextAsInOtlp() throws Exception {
    write(List.of(FULL));

    assertThat(attributes(decode(null)))
        .containsExactly(
            Map.of(
                "text", "caf\u00e9",
                "rows", "-3",
                "least", "-9223372036854775808",
                "retry", "true",
                "cached", "false",
                "ratio", "0.25",
                "tables", "[\"carts\"]",
                "plan", "AP8="));
  }

  @Test
  void numbersArriveUnchanged() throws Exception {
    write(List.of(FULL));

    RecordingSink sink = decode(null);
    assertThat(sink.spans)
        .singleElement()
        .extracting(
            Recorded::traceIdHigh,
            Recorded::traceIdLow,
            Recorded::spanId,
            Recorded::parentSpanId,
            Recorded::startUnixNanos,
            Recorded::durationNanos,
            Recorded::kind,
            Recorded::status,
            Recorded::samplingThreshold)
        .containsExactly(
            FULL.traceIdHigh(),
            FULL.traceIdLow(),
            FULL.spanId(),
            FULL.parentSpanId(),
            FULL.startUnixNanos(),
            FULL.durationNanos(),
            FULL.kind(),
            FULL.status(),
            FULL.samplingThreshold());
    assertThat(sink.randomness).containsExactly(FULL.randomness());
  }

  /** The record has a header, and zeros up to a multiple of eight that are not counted. */
  @Test
  void sizeIsThatOfTheRecord() throws Exception {
    List<RingSpan> spans = List.of(FULL, plain(1), span("SELECT", Map.of("rows", 7L)), FULL);
    write(spans);
    List<Long> lengths = new ArrayList<>();
    for (int at = 0; at < length; at += (int) RingLayout.takenBytes(lengths.getLast().intValue())) {
      lengths.add((long) (payload[at] & 0xff | (payload[at + 1] & 0xff) << 8));
    }

    assertThat(decode(null).sizes).isEqualTo(lengths).hasSize(spans.size());
    assertThat(lengths).anyMatch(size -> size % 8 != 0).allMatch(size -> size > 64);
  }

  @Test
  void unwantedAttributesAreLeftOutAndCounted() throws Exception {
    write(List.of(FULL));

    RecordingSink recorder = decode(new KeySet(List.of("rows".getBytes(UTF_8))));

    assertThat(attributes(recorder)).containsExactly(Map.of("rows", "-3"));
    assertThat(recorder.notWanted).isEqualTo(7);
    assertThat(leftOut.sum()).isZero();
  }

  /** Decoded attributes are reused for the next span of the same name where possible. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void repeatedNamesKeepTheAttributesOfEachSpan(long seed) throws Exception {
    Random random = new Random(seed);
    List<RingSpan> spans = new ArrayList<>();
    List<Map<String, String>> all = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      Map<String, Object> attributes = new LinkedHashMap<>();
      Map<String, String> expected = new TreeMap<>();
      for (int key = random.nextInt(3); key < 6; key += 1 + random.nextInt(2)) {
        Object value =
            switch (random.nextInt(8)) {
              case 0 -> (long) random.nextInt(100_000);
              case 1, 2 -> 200L;
              case 3 -> "unique " + i;
              case 4 -> i % 2 == 0;
              default -> "value " + random.nextInt(2);
            };
        attributes.put("key" + key, value);
        expected.put("key" + key, value.toString());
      }
      spans.add(span("name " + i % 3, attributes));
      all.add(expected);
    }
    write(spans);

    assertThat(attributes(decode(null))).isEqualTo(all);

    RecordingSink some =
        decode(new KeySet(List.of("key1".getBytes(UTF_8), "key4".getBytes(UTF_8))));
    assertThat(some.notWanted)
        .isEqualTo(
            all.stream()
                .flatMap(map -> map.keySet().stream())
                .filter(key -> !key.equals("key1") && !key.equals("key4"))
                .count());
    all.forEach(map -> map.keySet().retainAll(List.of("key1", "key4")));
    assertThat(attributes(some)).isEqualTo(all);
  }

  @Test
  void attributesAboveTheLimitAreLeftOut() throws Exception {
    Map<String, Object> many = new LinkedHashMap<>();
    for (int i = 0; i < RingSpanDecoder.MAX_ATTRIBUTES + 5; i++) {
      many.put("key-" + i, (long) i);
    }
    write(List.of(span("many", many)));

    assertThat(attributes(decode(null)).getFirst()).hasSize(RingSpanDecoder.MAX_ATTRIBUTES);
    assertThat(leftOut.sum()).isEqualTo(5);
  }

  @Test
  void wantedEventsArriveWithWantedAttributes() throws Exception {
    write(List.of(FULL, RingSpan.numbered(1), FULL));
    RecordingSink recorder = new RecordingSink();
    recorder.wantedEvents = WantedEvents.of(List.of("exception"), List.of("exception.type"));

    decoder.decode(payload, length, resource, strings(), recorder);

    var event = Map.entry("exception", Map.of("exception.type", "x"));
    assertThat(recorder.events).containsExactly(List.of(event), List.of(), List.of(event));
  }

  @Test
  void linksOfConsumersAreRead() throws Exception {
    RingSpan.Link first = new RingSpan.Link(1, 2, 3);
    RingSpan.Link second = new RingSpan.Link(-1, 0, -3);
    RingSpan.Link withoutTrace = new RingSpan.Link(0, 0, 3);
    RingSpan.Link withoutSpan = new RingSpan.Link(1, 2, 0);
    List<RingSpan.Link> links = List.of(withoutTrace, first, second, first, withoutSpan);
    List<RingSpan.Link> many =
        LongStream.rangeClosed(1, 255).mapToObj(i -> new RingSpan.Link(i, i, i)).toList();
    write(
        List.of(
            linked(CONSUMER, links),
            linked(CONSUMER, List.of()),
            linked(CLIENT, links),
            linked(CONSUMER, many)));

    RecordingSink recorder = decode(null);
    assertThat(recorder.spans).hasSize(4);
    assertThat(recorder.links.get(0))
        .containsExactly(
            "00000000000000010000000000000002 0000000000000003",
            "ffffffffffffffff0000000000000000 fffffffffffffffd");
    assertThat(recorder.links.get(1)).isEmpty();
    assertThat(recorder.links.get(2)).isEmpty();
    assertThat(recorder.links.get(3)).hasSize(SpanLinks.MAX);
    assertThat(attributes(recorder)).containsOnly(Map.of("k", "v"));
  }

  @Test
  void moreLinksThanBytesAreMalformed() throws Exception {
    write(List.of(linked(CONSUMER, List.of(new RingSpan.Link(1, 2, 3)))));
    for (int links = 2; links < 256; links++) {
      payload[RingLayout.RECORD_HEADER_BYTES + RingLayout.LINKS_OFFSET] = (byte) links;
      assertThat(decode(null).rejected).containsExactly("malformed_span");
    }
  }

  @Test
  void anInvalidSpanIsRejectedAlone() throws Exception {
    write(
        List.of(
            RingSpan.numbered(1),
            with(RingSpan.numbered(2), 0, 1, 1),
            with(RingSpan.numbered(3), 3, 0, 1),
            with(RingSpan.numbered(4), 4, 1, -1),
            RingSpan.numbered(5)));

    RecordingSink recorder = decode(null);
    assertThat(recorder.spans).hasSize(2);
    assertThat(recorder.rejected)
        .containsExactly("invalid_span_id", "invalid_start_time", "invalid_duration");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void aTruncatedSpanIsMalformed(int links) throws Exception {
    write(List.of(linked(CONSUMER, Collections.nCopies(links, new RingSpan.Link(1, 2, 3)))));
    for (int cut = 9; cut < length - 8; cut++) {
      byte[] bytes = payload.clone();
      bytes[0] = (byte) cut;
      bytes[1] = (byte) (cut >> 8);
      RecordingSink recorder = new RecordingSink();
      decoder.decode(bytes, (int) RingLayout.takenBytes(cut), resource, strings(), recorder);
      assertThat(recorder.spans).isEmpty();
      assertThat(recorder.rejected).containsExactly("malformed_span");
    }
  }

  @Test
  void aPayloadWithoutRecordsIsMalformed() throws Exception {
    write(List.of(RingSpan.numbered(1), RingSpan.numbered(2)));
    payload[length - 1 & -8] = 3;
    RecordingSink recorder = new RecordingSink();

    assertThatThrownBy(() -> decoder.decode(payload, length - 8, resource, strings(), recorder))
        .isInstanceOf(MalformedPayloadException.class);
    assertThat(recorder.spans).isEmpty();
  }

  /**
   * Few bytes may refer to long strings thousands of times; each reference counts as the string's
   * length.
   */
  @Test
  void repeatedTextIsBounded() throws Exception {
    Map<String, Object> attributes = new LinkedHashMap<>();
    for (int i = 0; i < 16; i++) {
      attributes.put("key-" + i, "x".repeat(60_000));
    }
    shape =
        new RingWriter.Shape(
            4_096, 1 << 17, 1 << 20, 7, 0, 0, 0, Map.of("service.name", "checkout"));
    RingSpan large = span("large", attributes);
    write(IntStream.range(0, 1_000).mapToObj(i -> large).toList());

    CountingSink recorder = new CountingSink();
    decoder.decode(payload, length, resource, strings(), recorder);

    assertThat(recorder.spans).isBetween(1L, 100L);
    assertThat(recorder.rejected)
        .hasSize(1_000 - (int) recorder.spans)
        .containsOnly("too_much_text");
  }

  @Test
  void repairedStringsOfTheDictionaryAreNotRepairedAgain() throws Exception {
    byte[] broken = new byte[3 + 65_000];
    Arrays.fill(broken, (byte) 0xff);
    broken[0] = (byte) (65_000 & 0x7f | 0x80);
    broken[1] = (byte) (65_000 >> 7 & 0x7f | 0x80);
    broken[2] = (byte) (65_000 >> 14);
    shape =
        new RingWriter.Shape(
            4_096, 1 << 17, 1 << 20, 7, 0, 0, 0, Map.of("service.name", "checkout"));
    entry = broken;
    // Key and value refer to the entry: 3 bytes each attribute.
    write(List.of(span("first", Map.of())));
    byte[] record = new byte[65_528];
    System.arraycopy(payload, 0, record, 0, 8 + RingLayout.SPAN_FIXED_BYTES);
    record[0] = (byte) record.length;
    record[1] = (byte) (record.length >> 8);
    record[2] = 0;
    record[8 + RingLayout.FLAGS_OFFSET] = 0;
    int attributes = (record.length - 65) / 3;
    record[8 + RingLayout.ATTRIBUTES_OFFSET] = (byte) attributes;
    record[9 + RingLayout.ATTRIBUTES_OFFSET] = (byte) (attributes >> 8);
    RecordingSink recorder = new RecordingSink();

    decoder.decode(record, record.length, resource, strings(), recorder);

    assertThat(strings().length(0)).isEqualTo(3 * 65_000);
    assertThat(attributes(recorder)).containsExactly(Map.of());
    assertThat(leftOut.sum()).isEqualTo(attributes);
  }

  @Test
  void decodingAllocatesNothing() throws Exception {
    RingSpan linked =
        linked(
            CONSUMER,
            LongStream.rangeClosed(1, 9).mapToObj(i -> new RingSpan.Link(i, i, i)).toList());
    write(
        IntStream.range(0, 2_000)
            .mapToObj(i -> i % 3 == 0 ? FULL : i % 3 == 1 ? linked : plain(i))
            .toList());
    CountingSink counter = new CountingSink();
    RingDictionary.Strings strings = strings();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    // Compilation takes some rounds, which may allocate a little.
    for (int round = 0; round < 10; round++) {
      counter.spans = 0;
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 20; i++) {
        decoder.decode(payload, length, resource, strings, counter);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      assertThat(counter.spans).isEqualTo(40_000);
    }

    assertThat(least).isZero();
  }

  /** Returns a span that ends with its attribute or its links. */
  private static RingSpan linked(int kind, List<RingSpan.Link> links) {
    return new RingSpan(
        1, 2, 3, 4, 5, 6, kind, 0, 0, -1, "process", "", Map.of("k", "v"), List.of(), links);
  }

  private static RingSpan plain(int number) {
    return RingSpan.numbered(number + 1L);
  }

  private static RingSpan with(RingSpan of, long spanId, long start, long duration) {
    return new RingSpan(
        of.traceIdHigh(),
        of.traceIdLow(),
        spanId,
        0,
        start,
        duration,
        0,
        0,
        0,
        -1,
        of.name(),
        "",
        of.attributes(),
        List.of());
  }

  /** Spans of one name share what was read of the last one: the kind decides what is needed. */
  @Test
  void additionalAttributesAreReadAfterASpanOfAKindWithoutThem() throws Exception {
    KeySet none = new KeySet(List.of());
    KeySet host = new KeySet(List.of("host".getBytes(UTF_8)));
    List<String> hosts = new ArrayList<>();
    SpanSink sink =
        new SpanSink() {
          @Override
          public void resource(Attributes attributes) {}

          @Override
          public KeySet firstKeys() {
            return none;
          }

          @Override
          public KeySet additionalKeys(int kind) {
            return kind == CLIENT ? host : null;
          }

          @Override
          public boolean span(SpanView span) {
            Attributes found = span.additional;
            hosts.add(
                found.size() == 0
                    ? "none"
                    : new String(
                        found.value(0), found.valueOffset(0), found.valueLength(0), UTF_8));
            return true;
          }

          @Override
          public void rejected(String reason) {
            hosts.add(reason);
          }
        };
    Map<String, Object> attributes = Map.of("host", "a");
    write(
        List.of(
            span(CLIENT - 1, "GET", attributes),
            span(CLIENT, "GET", attributes),
            span(CLIENT, "GET", attributes),
            span(CLIENT - 1, "GET", attributes),
            span(CLIENT, "GET", attributes)));
    decoder.decode(payload, length, resource, strings(), sink);

    assertThat(hosts).containsExactly("none", "a", "a", "none", "a");
  }

  /** Names and kinds share shapes, but not what was remembered for other keys. */
  @Test
  void additionalAttributesAreThoseOfTheKind() throws Exception {
    KeySet none = new KeySet(List.of());
    List<KeySet> ofKind = new ArrayList<>();
    for (int kind = 0; kind <= 5; kind++) {
      ofKind.add(new KeySet(List.of(("key" + kind).getBytes(UTF_8))));
    }
    List<String> expected = new ArrayList<>();
    List<String> found = new ArrayList<>();
    SpanSink sink =
        new SpanSink() {
          @Override
          public void resource(Attributes attributes) {}

          @Override
          public KeySet firstKeys() {
            return none;
          }

          @Override
          public KeySet additionalKeys(int kind) {
            return ofKind.get(kind);
          }

          @Override
          public boolean span(SpanView span) {
            Attributes additional = span.additional;
            assertThat(additional.size()).isOne();
            found.add(
                new String(
                    additional.key(0), additional.keyOffset(0), additional.keyLength(0), UTF_8));
            return true;
          }

          @Override
          public void rejected(String reason) {
            found.add(reason);
          }
        };
    Map<String, Object> attributes = new TreeMap<>();
    ofKind.forEach(_ -> attributes.put("key" + attributes.size(), "v"));
    List<RingSpan> spans = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      int kind = i * i % 6;
      spans.add(span(kind, "GET " + i % 50, attributes));
      expected.add("key" + kind);
    }
    write(spans);
    decoder.decode(payload, length, resource, strings(), sink);

    assertThat(found).isEqualTo(expected);
  }

  private static RingSpan span(String name, Map<String, Object> attributes) {
    return span(CLIENT, name, attributes);
  }

  private static RingSpan span(int kind, String name, Map<String, Object> attributes) {
    return new RingSpan(
        0x0af7_6519_16cd_43ddL,
        0x8448_eb21_1c80_319cL,
        0xb7ad_6b71_6920_3331L,
        0x00f0_67aa_0ba9_02b7L,
        1_795_255_028_312_000_000L,
        1_500_000L,
        kind,
        2,
        0xc0_0000_0000_0000L,
        0x6e_6d1a_75b4_f3e1L,
        name,
        "deadline",
        attributes,
        List.of(new RingSpan.Event("exception", 5, Map.of("exception.type", "x"))));
  }

  /** Puts the spans' records into the payload. */
  private void write(List<RingSpan> spans) throws Exception {
    try (RingWriter writer = RingWriter.create(directory, "1-0123456789abcdef.ring", shape)) {
      if (entry.length > 0) {
        writer.entry(entry);
      }
      spans.forEach(span -> assertThat(writer.write(span)).isTrue());
      RingCursor cursor =
          new RingCursor(
              writer.file(), RingHeader.read(writer.file().asSlice(0, 4_096).asByteBuffer()));
      length = cursor.copy(0, cursor.tail(), payload);
      dictionary.update(cursor, 1 << 20);
    }
  }

  private RingDictionary.Strings strings() {
    return dictionary.strings();
  }

  private static List<Map<String, String>> attributes(RecordingSink sink) {
    return sink.spans.stream().map(Recorded::attributes).toList();
  }

  private RecordingSink decode(KeySet wanted) throws MalformedPayloadException {
    RecordingSink recorder = new RecordingSink();
    recorder.wanted = wanted;
    decoder.decode(payload, length, resource, strings(), recorder);
    return recorder;
  }
}
