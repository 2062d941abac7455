package org.traceetl.agent.source.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.proto.ring.RingCursor;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingHeader;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

final class RingSpanDecoderTest {
  private static final RingSpan FULL =
      span(
          "SELECT carts",
          attributes(
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
  private int length;

  @BeforeEach
  void makeResource() {
    resource = RingSpanDecoder.Resource.read(new byte[0], 0, dictionary.strings());
  }

  @Test
  void valuesBecomeTextAsThoseOfOtlp() throws Exception {
    write(List.of(FULL));

    assertThat(decode(null).attributes)
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
  void numbersArriveAsTheyAre() throws Exception {
    write(List.of(FULL));

    SpanView span = decode(null).last;
    assertThat(span.traceIdHigh).isEqualTo(FULL.traceIdHigh());
    assertThat(span.traceIdLow).isEqualTo(FULL.traceIdLow());
    assertThat(span.spanId).isEqualTo(FULL.spanId());
    assertThat(span.parentSpanId).isEqualTo(FULL.parentSpanId());
    assertThat(span.startUnixNanos).isEqualTo(FULL.startUnixNanos());
    assertThat(span.durationNanos).isEqualTo(FULL.durationNanos());
    assertThat(span.kind).isEqualTo(FULL.kind());
    assertThat(span.status).isEqualTo(FULL.status());
    assertThat(span.samplingThreshold).isEqualTo(FULL.samplingThreshold());
    assertThat(span.randomness).isEqualTo(FULL.randomness());
  }

  @Test
  void attributesThatNobodyWantsAreCountedAndLeftOut() throws Exception {
    write(List.of(FULL));

    Recorder recorder = decode(new KeySet(List.of("rows".getBytes(UTF_8))));

    assertThat(recorder.attributes).containsExactly(Map.of("rows", "-3"));
    assertThat(recorder.notWanted).isEqualTo(7);
    assertThat(leftOut.sum()).isZero();
  }

  @Test
  void eventsThatAreWantedAreReadWithTheAttributesThatAre() throws Exception {
    RingSpan.Event retry = new RingSpan.Event("retry", -1, Map.of("n", 2L, "other", "x"));
    RingSpan.Event other = new RingSpan.Event("other", 0, Map.of("n", 3L));
    write(List.of(withEvents(FULL, retry, other, retry), FULL, plain(1)));

    Recorder exceptions = new Recorder(null);
    exceptions.wantedEvents = WantedEvents.of(List.of("exception"), List.of("exception.type"));
    decoder.decode(payload, length, resource, strings(), exceptions);
    assertThat(exceptions.events).containsExactly("", "exception exception.type=x;", "");

    Recorder retries = new Recorder(null);
    retries.wantedEvents = WantedEvents.of(List.of("retry"), List.of("n"));
    decoder.decode(payload, length, resource, strings(), retries);
    assertThat(retries.events).containsExactly("retry n=2;retry n=2;", "", "");

    assertThat(decode(null).events).containsExactly("", "", "");
  }

  private static RingSpan withEvents(RingSpan of, RingSpan.Event... events) {
    return new RingSpan(
        of.traceIdHigh(),
        of.traceIdLow(),
        of.spanId(),
        of.parentSpanId(),
        of.startUnixNanos(),
        of.durationNanos(),
        of.kind(),
        of.status(),
        of.samplingThreshold(),
        of.randomness(),
        of.name(),
        of.statusMessage(),
        of.attributes(),
        List.of(events));
  }

  @Test
  void attributesAboveTheMostAreLeftOut() throws Exception {
    Map<String, Object> many = new LinkedHashMap<>();
    for (int i = 0; i < RingSpanDecoder.MAX_ATTRIBUTES + 5; i++) {
      many.put("key-" + i, (long) i);
    }
    write(List.of(span("many", many)));

    assertThat(decode(null).attributes.getFirst()).hasSize(RingSpanDecoder.MAX_ATTRIBUTES);
    assertThat(leftOut.sum()).isEqualTo(5);
  }

  @Test
  void aFaultInsideASpanCostsThatSpanAlone() throws Exception {
    write(
        List.of(
            RingSpan.numbered(1),
            with(RingSpan.numbered(2), 0, 1, 1),
            with(RingSpan.numbered(3), 3, 0, 1),
            with(RingSpan.numbered(4), 4, 1, -1),
            RingSpan.numbered(5)));

    Recorder recorder = decode(null);
    assertThat(recorder.spans).isEqualTo(2);
    assertThat(recorder.rejected)
        .containsExactly("invalid_span_id", "invalid_start_time", "invalid_duration");
  }

  @Test
  void aSpanThatBreaksOffIsMalformed() throws Exception {
    write(List.of(plain(1)));
    for (int cut = 9; cut < length - 8; cut++) {
      byte[] bytes = payload.clone();
      bytes[0] = (byte) cut;
      bytes[1] = (byte) (cut >> 8);
      Recorder recorder = new Recorder(null);
      decoder.decode(bytes, (int) RingLayout.takenBytes(cut), resource, strings(), recorder);
      assertThat(recorder.spans).isZero();
      assertThat(recorder.rejected).containsExactly("malformed_span");
    }
  }

  @Test
  void whatIsNoRecordsIsMalformedAsAWhole() throws Exception {
    write(List.of(RingSpan.numbered(1), RingSpan.numbered(2)));
    payload[length - 1 & -8] = 3;
    Recorder recorder = new Recorder(null);

    assertThatThrownBy(() -> decoder.decode(payload, length - 8, resource, strings(), recorder))
        .isInstanceOf(MalformedPayloadException.class);
    assertThat(recorder.spans).isZero();
  }

  @Test
  void spansAreDecodedWithoutGarbage() throws Exception {
    write(IntStream.range(0, 2_000).mapToObj(i -> i % 2 == 0 ? FULL : plain(i)).toList());
    Recorder counter = new Recorder(null);
    counter.keeping = false;
    counter.wantedEvents = WantedEvents.of(List.of("exception"), List.of("exception.type"));
    RingDictionary.Strings strings = strings();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    // Some rounds until all is compiled, which may leave a little.
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

  private static RingSpan span(String name, Map<String, Object> attributes) {
    return new RingSpan(
        0x0af7_6519_16cd_43ddL,
        0x8448_eb21_1c80_319cL,
        0xb7ad_6b71_6920_3331L,
        0x00f0_67aa_0ba9_02b7L,
        1_795_255_028_312_000_000L,
        1_500_000L,
        3,
        2,
        0xc0_0000_0000_0000L,
        0x6e_6d1a_75b4_f3e1L,
        name,
        "deadline",
        attributes,
        List.of(new RingSpan.Event("exception", 5, Map.of("exception.type", "x"))));
  }

  private static Map<String, Object> attributes(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }

  /** Has the spans' records in the payload. */
  private void write(List<RingSpan> spans) throws Exception {
    try (RingWriter writer = RingWriter.create(directory, "1-0123456789abcdef.ring", shape)) {
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

  private Recorder decode(KeySet wanted) throws MalformedPayloadException {
    Recorder recorder = new Recorder(wanted);
    decoder.decode(payload, length, resource, strings(), recorder);
    return recorder;
  }

  private static final class Recorder implements SpanSink {
    private final KeySet wanted;
    private final List<Map<String, String>> attributes = new ArrayList<>();
    private final List<String> rejected = new ArrayList<>();

    /** Of each span. */
    private final List<String> events = new ArrayList<>();

    private WantedEvents wantedEvents = WantedEvents.NONE;
    private boolean keeping = true;
    private int spans;
    private int notWanted;
    private SpanView last;

    private Recorder(KeySet wanted) {
      this.wanted = wanted;
    }

    @Override
    public KeySet wantedKeys() {
      return wanted;
    }

    @Override
    public WantedEvents wantedEvents() {
      return wantedEvents;
    }

    @Override
    public void resource(Attributes attributes) {}

    @Override
    public void span(SpanView span) {
      spans++;
      notWanted += span.attributesNotWanted;
      last = span;
      if (keeping) {
        Map<String, String> copy = new TreeMap<>();
        Attributes all = span.attributes;
        for (int i = 0; i < all.size(); i++) {
          copy.put(
              new String(all.key(i), all.keyOffset(i), all.keyLength(i), UTF_8),
              new String(all.value(i), all.valueOffset(i), all.valueLength(i), UTF_8));
        }
        attributes.add(copy);
        events.add(text(span.events));
      }
    }

    private static String text(SpanEvents events) {
      StringBuilder text = new StringBuilder();
      Attributes all = events.attributes();
      for (int event = 0; event < events.size(); event++) {
        text.append(text(events.name(event), events.nameOffset(event), events.nameLength(event)));
        for (int i = events.firstAttribute(event); i < events.firstAttribute(event + 1); i++) {
          text.append(' ')
              .append(text(all.key(i), all.keyOffset(i), all.keyLength(i)))
              .append('=')
              .append(text(all.value(i), all.valueOffset(i), all.valueLength(i)));
        }
        text.append(';');
      }
      return text.toString();
    }

    private static String text(byte[] bytes, int offset, int length) {
      return new String(bytes, offset, length, UTF_8);
    }

    @Override
    public void rejected(String reason) {
      rejected.add(reason);
    }
  }
}
