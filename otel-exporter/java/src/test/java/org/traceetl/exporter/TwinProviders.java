package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingSpan;

/**
 * An SDK with {@link RingSpanProcessor}, and {@link TraceEtlTracerProvider}, which do the same
 * random work. They have the same time and IDs, so their spans must be equal.
 */
final class TwinProviders implements AutoCloseable {
  private static final RingSize SIZE = RingSize.of(1 << 20, 64 << 10);
  private static final int MOST_OPEN = 6;

  private final Random random;
  private final TestClock clock = new TestClock();
  private final SdkTracerProvider sdk;
  private final TraceEtlTracerProvider own;
  private final RingReader sdkRing;
  private final RingReader ownRing;
  private final Tracer[] tracers;
  private final List<Span[]> open = new ArrayList<>();
  private int ended;
  private int links;

  /** The work is that of the seed. */
  TwinProviders(long seed, Path directory, Sampler sampler, SpanLimits limits) throws IOException {
    random = new Random(seed);
    boolean randomIds = random.nextBoolean();
    Resource resource = Resource.create(Attributes.builder().put("service.name", "twin").build());
    Path ofSdk = Files.createDirectory(directory.resolve("sdk"));
    Path ofOwn = Files.createDirectory(directory.resolve("own"));
    sdk =
        SdkTracerProvider.builder()
            .setClock(clock)
            .setIdGenerator(new Ids(seed, randomIds))
            .setResource(resource)
            .setSampler(sampler)
            .setSpanLimits(limits)
            .addSpanProcessor(
                RingSpanProcessor.builder()
                    .setDirectory(ofSdk)
                    .setSize(SIZE)
                    .setResource(resource)
                    .build())
            .build();
    own =
        TraceEtlTracerProvider.builder()
            .setClock(clock)
            .setIdGenerator(new Ids(seed, randomIds))
            .setResource(resource)
            .setSampler(sampler)
            .setSpanLimits(limits)
            .setDirectory(ofOwn)
            .setSize(SIZE)
            .build();
    sdkRing = new RingReader(RingSpanProcessorTest.ring(ofSdk));
    ownRing = new RingReader(RingSpanProcessorTest.ring(ofOwn));
    tracers = new Tracer[] {sdk.get("twin", "1"), own.get("twin", "1")};
  }

  int ended() {
    return ended;
  }

  /** Returns the links that {@link #compareRings} found. */
  int links() {
    return links;
  }

  /** Does one thing with both. */
  void step() {
    clock.nanos += random.nextInt(1_000);
    if (open.isEmpty() || open.size() < MOST_OPEN && random.nextInt(5) == 0) {
      start();
      return;
    }
    Span[] spans = open.get(random.nextInt(open.size()));
    if (random.nextInt(8) == 0) {
      end(spans);
    } else {
      both(spans, change());
    }
    compare(spans);
  }

  /** Ends all spans, and compares the rings. */
  int compareRings() {
    new ArrayList<>(open).forEach(this::end);
    List<RingSpan> expected = sdkRing.poll();
    List<RingSpan> actual = ownRing.poll();
    for (int i = 0; i < Math.min(expected.size(), actual.size()); i++) {
      assertThat(text(actual.get(i))).isEqualTo(text(expected.get(i)));
      links += actual.get(i).links.size();
    }
    assertThat(actual).hasSameSizeAs(expected);
    assertThat(ownRing.resource()).isEqualTo(sdkRing.resource());
    return actual.size();
  }

  /** The attributes of an exception may be in another order. */
  private static String text(RingSpan span) {
    span.events.replaceAll(event -> {
      List<RingSpan.Attribute> sorted = new ArrayList<>(event.attributes());
      sorted.sort(Comparator.comparing(RingSpan.Attribute::key));
      return new RingSpan.Event(event.name(), event.afterStartNanos(), sorted);
    });
    return span.toString();
  }

  @Override
  public void close() throws IOException {
    sdk.close();
    own.close();
    sdkRing.close();
    ownRing.close();
  }

  private void start() {
    String name = random.nextInt(20) == 0 ? " " : text();
    SpanBuilder[] builders = {tracers[0].spanBuilder(name), tracers[1].spanBuilder(name)};
    Context[] parents = parents();
    for (int i = 0; i < 2; i++) {
      builders[i].setParent(parents[i]);
    }
    for (int rest = random.nextInt(12); rest > 0; rest--) {
      BiConsumer<SpanBuilder, Integer> setting = setting();
      setting.accept(builders[0], 0);
      setting.accept(builders[1], 1);
    }
    Span[] spans = {builders[0].startSpan(), builders[1].startSpan()};
    if (random.nextInt(10) == 0) {
      // A builder may be used again.
      builders[0].setAttribute("again", 1);
      builders[1].setAttribute("again", 1);
      compare(new Span[] {builders[0].startSpan(), builders[1].startSpan()});
    }
    compare(spans);
    open.add(spans);
  }

  /** Returns a parent of each: a span of its own, a remote one, or none. */
  private Context[] parents() {
    Context root = Context.root();
    switch (random.nextInt(4)) {
      case 0:
        return new Context[] {root, root};
      case 1:
        Context remote = root.with(Span.wrap(remote()));
        return new Context[] {remote, remote};
      default:
        if (open.isEmpty()) {
          return new Context[] {root, root};
        }
        Span[] spans = open.get(random.nextInt(open.size()));
        return new Context[] {root.with(spans[0]), root.with(spans[1])};
    }
  }

  private SpanContext remote() {
    return SpanContext.createFromRemoteParent(
        String.format("%016x%016x", random.nextLong(), random.nextLong() | 1),
        random.nextInt(10) == 0
            ? "0000000000000000"
            : String.format("%016x", random.nextLong() | 1),
        TraceFlags.fromByte((byte) random.nextInt(4)),
        state());
  }

  private TraceState state() {
    switch (random.nextInt(4)) {
      case 0:
        return TraceState.builder().put("ot", "th:c8;x:1").put("other", "1").build();
      case 1:
        return TraceState.builder().put("ot", "rv:00ffeeddccbbaa;th:4").build();
      case 2:
        return TraceState.builder().put("vendor", "a").build();
      default:
        return TraceState.getDefault();
    }
  }

  private BiConsumer<SpanBuilder, Integer> setting() {
    String key = key();
    switch (random.nextInt(11)) {
      case 0:
        // Half of them are consumers, whose links are written.
        SpanKind kind =
            random.nextBoolean()
                ? SpanKind.CONSUMER
                : SpanKind.values()[random.nextInt(SpanKind.values().length)];
        return (builder, twin) -> builder.setSpanKind(kind);
      case 1:
        long start = random.nextLong(1L << 60);
        return (builder, twin) -> builder.setStartTimestamp(start, TimeUnit.NANOSECONDS);
      case 2:
        SpanContext link = remote();
        Attributes attributes = attributes();
        return (builder, twin) -> builder.addLink(link, attributes).addLink(link);
      case 3:
        return (builder, twin) -> builder.setNoParent();
      case 4:
        long number = random.nextLong() >> random.nextInt(64);
        return (builder, twin) -> builder.setAttribute(key, number);
      case 5:
        double real = random.nextGaussian();
        return (builder, twin) -> builder.setAttribute(key, real);
      case 6:
        boolean flag = random.nextBoolean();
        return (builder, twin) -> builder.setAttribute(key, flag);
      case 7:
        Attributes all = attributes();
        return (builder, twin) -> builder.setAllAttributes(all);
      default:
        String text = random.nextInt(10) == 0 ? null : text();
        return (builder, twin) -> builder.setAttribute(key, text);
    }
  }

  private BiConsumer<Span, Integer> change() {
    String key = key();
    String text = text();
    switch (random.nextInt(16)) {
      case 0:
        StatusCode code = StatusCode.values()[random.nextInt(3)];
        return (span, twin) -> span.setStatus(code, random(text, "", null));
      case 1:
        StatusCode only = StatusCode.values()[random.nextInt(3)];
        return (span, twin) -> span.setStatus(only);
      case 2:
        return (span, twin) -> span.updateName(text);
      case 3:
        return (span, twin) -> span.addEvent(text);
      case 4:
        Attributes ofEvent = attributes();
        return (span, twin) -> span.addEvent(text, ofEvent);
      case 5:
        long millis = random.nextLong(1L << 40);
        Attributes ofTimed = attributes();
        return (span, twin) -> span.addEvent(text, ofTimed, millis, TimeUnit.MILLISECONDS);
      case 6:
        Throwable thrown =
            random.nextBoolean() ? new IllegalStateException(text) : new IOException() {};
        Attributes more = attributes();
        return (span, twin) -> span.recordException(thrown, more);
      case 7:
        SpanContext link = remote();
        Attributes ofLink = attributes();
        return (span, twin) -> span.addLink(link, ofLink);
      case 8:
        long number = random.nextLong() >> random.nextInt(64);
        return (span, twin) -> span.setAttribute(key, number);
      case 9:
        double real = random.nextGaussian();
        return (span, twin) -> span.setAttribute(key, real);
      case 10:
        boolean flag = random.nextBoolean();
        return (span, twin) -> span.setAttribute(key, flag);
      case 11:
        Value<?> value = value(2);
        return (span, twin) -> span.setAttribute(key, value);
      case 12:
        Attributes all = attributes();
        return (span, twin) -> span.setAllAttributes(all);
      case 13:
        return (span, twin) -> span.setAttribute(key, (String) null);
      default:
        return (span, twin) -> span.setAttribute(key, text);
    }
  }

  /** The same choice for both twins of a step. */
  private String random(String first, String second, String third) {
    return clock.nanos % 3 == 0 ? first : clock.nanos % 3 == 1 ? second : third;
  }

  private Attributes attributes() {
    AttributesBuilder builder = Attributes.builder();
    for (int rest = random.nextInt(6); rest > 0; rest--) {
      String key = key();
      switch (random.nextInt(8)) {
        case 0:
          builder.put(key, text(), "a \"quoted\\ one\n");
          break;
        case 1:
          builder.put(key, random.nextLong(), 1);
          break;
        case 2:
          builder.put(key, random.nextBoolean(), true);
          break;
        case 3:
          builder.put(key, random.nextDouble(), Double.NaN);
          break;
        case 4:
          builder.put(AttributeKey.valueKey(key), value(2));
          break;
        case 5:
          builder.put(key, random.nextInt());
          break;
        default:
          builder.put(key, text());
      }
    }
    return builder.build();
  }

  private Value<?> value(int depth) {
    switch (random.nextInt(depth == 0 ? 4 : 6)) {
      case 0:
        return Value.of(text());
      case 1:
        return Value.of(random.nextLong());
      case 2:
        return Value.of(text().getBytes(StandardCharsets.UTF_8));
      case 3:
        return Value.of(random.nextBoolean());
      case 4:
        return Value.of(Arrays.asList(value(depth - 1), value(depth - 1)));
      default:
        return Value.of(KeyValue.of(key(), value(depth - 1)));
    }
  }

  private String key() {
    return random.nextInt(30) == 0 ? "" : "key." + random.nextInt(20);
  }

  private String text() {
    return random.nextInt(3) == 0
        ? "some longer text, number " + random.nextInt(1_000)
        : "often " + random.nextInt(10);
  }

  private void end(Span[] spans) {
    open.remove(spans);
    ended++;
    if (random.nextInt(4) == 0) {
      long at = random.nextInt(3) == 0 ? 0 : random.nextLong(1L << 60);
      both(spans, (span, twin) -> span.end(at, TimeUnit.NANOSECONDS));
    } else {
      both(spans, (span, twin) -> span.end());
    }
    if (random.nextInt(4) == 0) {
      // An ended span does not change.
      both(spans, change());
      both(spans, (span, twin) -> span.end());
    }
    compare(spans);
  }

  private static void both(Span[] spans, BiConsumer<Span, Integer> action) {
    action.accept(spans[0], 0);
    action.accept(spans[1], 1);
  }

  private static void compare(Span[] spans) {
    assertThat(spans[1].getSpanContext()).isEqualTo(spans[0].getSpanContext());
    assertThat(spans[1].isRecording()).isEqualTo(spans[0].isRecording());
    assertThat(spans[1] instanceof ReadableSpan).isEqualTo(spans[0] instanceof ReadableSpan);
    if (spans[0] instanceof ReadableSpan) {
      compare((ReadableSpan) spans[1], (ReadableSpan) spans[0]);
    }
  }

  private static void compare(ReadableSpan actual, ReadableSpan expected) {
    assertThat(actual.hasEnded()).isEqualTo(expected.hasEnded());
    assertThat(actual.getLatencyNanos()).isEqualTo(expected.getLatencyNanos());
    assertThat(actual.getName()).isEqualTo(expected.getName());
    assertThat(actual.getKind()).isEqualTo(expected.getKind());
    compareParents(actual.getParentSpanContext(), expected.getParentSpanContext());
    assertThat(actual.getAttributes().asMap()).isEqualTo(expected.getAttributes().asMap());
    SpanData of = actual.toSpanData();
    SpanData data = expected.toSpanData();
    assertThat(of.getSpanContext()).isEqualTo(data.getSpanContext());
    compareParents(of.getParentSpanContext(), data.getParentSpanContext());
    assertThat(of.getResource()).isEqualTo(data.getResource());
    assertThat(of.getInstrumentationScopeInfo()).isEqualTo(data.getInstrumentationScopeInfo());
    assertThat(of.getName()).isEqualTo(data.getName());
    assertThat(of.getKind()).isEqualTo(data.getKind());
    assertThat(of.getStatus()).isEqualTo(data.getStatus());
    assertThat(of.getStartEpochNanos()).isEqualTo(data.getStartEpochNanos());
    assertThat(of.getEndEpochNanos()).isEqualTo(data.getEndEpochNanos());
    assertThat(of.hasEnded()).isEqualTo(data.hasEnded());
    assertThat(events(of)).isEqualTo(events(data));
    assertThat(of.getTotalRecordedEvents()).isEqualTo(data.getTotalRecordedEvents());
    assertThat(links(of)).isEqualTo(links(data));
    assertThat(of.getTotalRecordedLinks()).isEqualTo(data.getTotalRecordedLinks());
    assertThat(of.getTotalAttributeCount()).isEqualTo(data.getTotalAttributeCount());
  }

  /** The SDK keeps the rest of an invalid parent. */
  private static void compareParents(SpanContext actual, SpanContext expected) {
    assertThat(actual).isEqualTo(expected.isValid() ? expected : SpanContext.getInvalid());
  }

  private static List<?> events(SpanData span) {
    return span.getEvents().stream()
        .map(event ->
            List.of(
                event.getName(),
                event.getEpochNanos(),
                Map.copyOf(event.getAttributes().asMap()),
                event.getTotalAttributeCount()))
        .toList();
  }

  /** Without the count of attributes, which the SDK takes after its limit. */
  private static List<?> links(SpanData span) {
    return span.getLinks().stream()
        .map(link -> List.of(link.getSpanContext(), Map.copyOf(link.getAttributes().asMap())))
        .toList();
  }

  /** A clock that stands still within a step. */
  private static final class TestClock implements Clock {
    private long nanos = 1_800_000_000_000_000_000L;

    @Override
    public long now() {
      return nanos;
    }

    @Override
    public long nanoTime() {
      return nanos - 42;
    }
  }

  /** The same IDs for both twins. */
  private static final class Ids implements IdGenerator {
    private final Random random;
    private final boolean randomTraceIds;

    private Ids(long seed, boolean randomTraceIds) {
      random = new Random(seed);
      this.randomTraceIds = randomTraceIds;
    }

    @Override
    public String generateSpanId() {
      return String.format("%016x", random.nextLong() | 1);
    }

    @Override
    public String generateTraceId() {
      return String.format("%016x%016x", random.nextLong(), random.nextLong() | 1);
    }

    @Override
    public boolean generatesRandomTraceIds() {
      return randomTraceIds;
    }
  }
}
