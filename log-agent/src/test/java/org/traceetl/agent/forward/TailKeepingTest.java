package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.ForwardMetrics.Kept;
import org.traceetl.agent.source.otlp.OtlpJsonDecoder;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.common.Clocks;

/** Steps tail keeping by hand. Spans have names of trace and number: {@code 7.1}. */
final class TailKeepingTest {
  private static final int WAIT = 10_000;
  private static final long START = 1_795_255_028_000_000_000L;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final Keep CONFIG = new Keep(true, WAIT, 1_000, true, 0, 16 << 20);

  @TempDir private Path directory;

  private final List<byte[]> requests = new ArrayList<>();
  private final List<OtlpFormat> formats = new ArrayList<>();
  private long millis = START / NANOS_PER_MILLI;
  private boolean canStore = true;
  private ForwardMetrics metrics;
  private TailKeeping keeping;

  @BeforeEach
  void open() throws IOException {
    open(CONFIG);
  }

  private void open(Keep config) throws IOException {
    metrics = new ForwardMetrics(List.of("a", "b"));
    keeping =
        new TailKeeping(
            config,
            directory,
            Disk.SYSTEM,
            (bytes, length, _, format) -> {
              formats.add(format);
              return canStore && requests.add(Arrays.copyOf(bytes, length));
            },
            Map.of(
                OtlpFormat.PROTOBUF, new OtlpProtobufDecoder(),
                OtlpFormat.JSON, new OtlpJsonDecoder()),
            metrics,
            new Clocks(System::nanoTime, () -> Instant.ofEpochMilli(millis)),
            7);
  }

  @ParameterizedTest
  @ValueSource(strings = {"slow", "failed"})
  void allFragmentsOfATraceAreKeptIfOneSpanIsSlowOrFailed(String kind) throws Exception {
    append(span(1, 1), span(2, 1));
    pass(WAIT / 2);
    append(kind.equals("slow") ? slow(2, 2) : failed(2, 2), span(3, 1));
    pass(WAIT / 2 - 1);
    assertThat(kept()).isEmpty();
    pass(1);
    assertThat(kept()).containsExactly("2.1");
    append(span(2, 3));
    pass(WAIT);

    assertThat(kept()).containsExactly("2.1", "2.2", "2.3");
    assertThat(requests).hasSize(3);
    assertThat(metrics.kept(kind.equals("slow") ? Kept.SLOW : Kept.FAILED)).isEqualTo(1);
    assertThat(metrics.kept(Kept.TRACE)).isEqualTo(2);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isEqualTo(2);
    assertThat(keeping.isEmpty()).isTrue();
  }

  @Test
  void aSpanThatIsJustNotSlowIsNotKept() throws Exception {
    append(
        span(1, 1).setEndTimeUnixNano(START + 1_000 * NANOS_PER_MILLI - 1),
        span(2, 1).setEndTimeUnixNano(START + 1_000 * NANOS_PER_MILLI));
    pass(WAIT);
    assertThat(kept()).containsExactly("2.1");
  }

  @Test
  void policiesCanBeSwitchedOff() throws Exception {
    open(new Keep(true, WAIT, 0, false, 0, 16 << 20));
    append(slow(1, 1).setEndTimeUnixNano(Long.MAX_VALUE), failed(2, 1));
    pass(WAIT);
    assertThat(kept()).isEmpty();
    assertThat(metrics.keeping()[0]).isEqualTo(1);
  }

  @Test
  void aMarkCountsForTheWaitAndNoLonger() throws Exception {
    append(failed(1, 1));
    pass(WAIT);
    append(span(1, 2));
    pass(1);
    append(span(1, 3));
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1", "1.2");
  }

  @Test
  void requestsOfWhichNothingIsLeftOutAreUnchanged() throws Exception {
    // A length that is longer than needed, which a writer would not repeat.
    byte[] span = failed(1, 1).build().toByteArray();
    byte[] head = {
      10, (byte) (span.length + 5), 18, (byte) ((span.length + 2) | 0x80), 0, 18, (byte) span.length
    };
    byte[] request = Arrays.copyOf(head, head.length + span.length);
    System.arraycopy(span, 0, request, head.length, span.length);
    keeping.append(request, request.length, millis, OtlpFormat.PROTOBUF);
    pass(WAIT);
    assertThat(requests).containsExactly(request);
  }

  @Test
  void theRatioKeepsTheSameTracesWhereverTheirSpansAre() throws Exception {
    open(new Keep(true, WAIT, 0, false, 0.25, 16 << 20));
    SplittableRandom random = new SplittableRandom(7);
    TreeSet<String> expected = new TreeSet<>();
    for (int i = 0; i < 400; i++) {
      long low = random.nextLong();
      Span.Builder[] spans = {span(i, 1), span(i, 2)};
      for (Span.Builder span : spans) {
        span.setTraceId(id(1, low));
        append(span);
      }
      // R is at least T = 0.75 * 2^56.
      if ((low & (1L << 56) - 1) >= 3L << 54) {
        expected.add(i + ".1");
        expected.add(i + ".2");
      }
    }
    pass(WAIT);
    assertThat(new TreeSet<>(kept())).isEqualTo(expected).hasSizeBetween(120, 280);
    assertThat(metrics.kept(Kept.RATIO)).isEqualTo(expected.size());
  }

  @Test
  void theRatioFollowsTheTracestate() throws Exception {
    open(new Keep(true, WAIT, 0, false, 0.25, 16 << 20));
    append(
        span(1, 1).setTraceState("ot=rv:c0000000000000"),
        span(2, 1).setTraceState("ot=rv:bfffffffffffff"),
        // Sampled at 1/8 before, which is less than a quarter.
        span(3, 1).setTraceState("x=y,ot=th:e;rv:00000000000000"),
        span(4, 1).setTraceState("ot=th:8"));
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1", "3.1");
  }

  @Test
  void malformedSpansAreNotForwarded() throws Exception {
    append(failed(1, 1), failed(2, 1).clearTraceId(), span(1, 2).clearSpanId());
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1");
    assertThat(metrics.kept(Kept.MALFORMED)).isEqualTo(2);
  }

  @Test
  void jsonIsForwardedWholeOrNotAtAll() throws Exception {
    appendJson(json(1, 2), json(2, 0));
    appendJson(json(3, 0), json(4, 1));
    appendJson(json(1, 0), json(5, 0).replace("05", "5"));
    pass(WAIT);

    assertThat(requests)
        .extracting(request -> new String(request, UTF_8))
        .containsExactly(
            request(json(1, 2), json(2, 0)), request(json(1, 0), json(5, 0).replace("05", "5")));
    assertThat(formats).containsOnly(OtlpFormat.JSON);
    assertThat(metrics.kept(Kept.FAILED)).isEqualTo(1);
    assertThat(metrics.kept(Kept.TRACE)).isEqualTo(1);
    // One of them is malformed.
    assertThat(metrics.kept(Kept.REQUEST)).isEqualTo(2);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isEqualTo(2);
    assertThat(metrics.kept(Kept.MALFORMED)).isZero();
  }

  private void appendJson(String... spans) throws IOException {
    byte[] request = request(spans).getBytes(UTF_8);
    keeping.append(request, request.length, millis, OtlpFormat.JSON);
  }

  private static String request(String... spans) {
    return "{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": ["
        + String.join(",", spans)
        + "]}]}]}";
  }

  private static String json(int trace, int status) {
    return """
    {"traceId": "000000000000000000000000000000%02d", "spanId": "000000000000000%d", "name": "op",
     "startTimeUnixNano": "1795255028312000000", "endTimeUnixNano": "1795255028412000000",
     "status": {"code": %d}}\
    """
        .formatted(trace, trace, status);
  }

  @Test
  void aStartMarksTheWaitingRequestsAgain() throws Exception {
    append(span(1, 1), span(2, 1));
    pass(WAIT / 2);
    append(failed(1, 2));
    pass(1);
    // As after a kill: without the end of the former one.
    open();
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1", "1.2");
    keeping.close();

    open();
    append(span(1, 3));
    pass(WAIT);
    assertThat(kept()).hasSize(2);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isEqualTo(1);
  }

  @Test
  void aDrainDecidesAtOnce() throws Exception {
    append(failed(1, 1), span(1, 2));
    append(span(2, 1));
    pass(1);
    assertThat(keeping.isEmpty()).isFalse();
    keeping.drain();
    pass(0);
    assertThat(kept()).containsExactly("1.1", "1.2");
    assertThat(keeping.isEmpty()).isTrue();
    assertThat(metrics.keeping()).containsExactly(1, 0, 0);
  }

  @Test
  void aClockThatIsSetBackHoldsNothingBack() throws Exception {
    append(failed(1, 1));
    pass(1);
    assertThat(requests).isEmpty();
    pass(-3_600_000);
    assertThat(kept()).containsExactly("1.1");
  }

  @Test
  void marksOfAClockThatIsSetBackAreForgotten() throws Exception {
    append(failed(1, 1));
    append(span(1, 2));
    pass(-3_600_000);
    // What was accepted before is decided on with the marks.
    assertThat(kept()).containsExactly("1.1", "1.2");
    append(span(2, 1));
    pass(WAIT);
    append(span(1, 3));
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1", "1.2");
  }

  @Test
  void requestsThatCannotBeStoredKeepWaiting() throws Exception {
    append(failed(1, 1), span(2, 1));
    append(span(1, 2));
    canStore = false;
    pass(WAIT);
    assertThat(keeping.isEmpty()).isFalse();
    assertThat(metrics.kept(Kept.LEFT_OUT)).isZero();
    keeping.tidy();
    // They wait over a kill, too.
    open();
    pass(0);
    canStore = true;
    while (keeping.step(false)) {
      // Marks.
    }
    assertThat(requests).isEmpty();
    pass(0);
    assertThat(kept()).containsExactly("1.1", "1.2");
    assertThat(metrics.kept(Kept.FAILED)).isEqualTo(1);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isEqualTo(1);
    assertThat(keeping.isEmpty()).isTrue();
  }

  @Test
  void requestsThatCannotBeStoredInTimeAreCounted() throws Exception {
    canStore = false;
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 40; i++) {
      append(failed(i, 1).setTraceState(large));
      pass(i == 0 ? WAIT : 0);
    }
    canStore = true;
    pass(WAIT);
    assertThat(metrics.dropped("a", Drop.BUFFER_FULL)).isPositive();
    assertThat(metrics.dropped("a", Drop.BUFFER_FULL) + requests.size()).isEqualTo(40);
    assertThat(keeping.isEmpty()).isTrue();
  }

  @Test
  void ifHalfOfTheBufferIsFullTheOldestAreDecidedEarly() throws Exception {
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 30; i++) {
      append(failed(i, 1).setTraceState(large));
      pass(1);
      keeping.tidy();
    }
    assertThat(requests.size()).isBetween(20, 24);
    assertThat(metrics.keeping()[1]).isEqualTo(requests.size());
    pass(WAIT);
    assertThat(requests).hasSize(30);
    assertThat(metrics.dropped("a", Drop.BUFFER_FULL)).isZero();
  }

  @Test
  void requestsThatTheBufferCannotHoldAreCountedForEachEndpoint() throws Exception {
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 40; i++) {
      append(failed(i, 1).setTraceState(large));
    }
    pass(WAIT);
    assertThat(metrics.dropped("a", Drop.BUFFER_FULL)).isPositive();
    assertThat(metrics.dropped("a", Drop.BUFFER_FULL) + requests.size()).isEqualTo(40);
    assertThat(metrics.dropped("b", Drop.BUFFER_FULL))
        .isEqualTo(metrics.dropped("a", Drop.BUFFER_FULL));
  }

  @Test
  void ifTooManyTracesAreMarkedTheirOwnSpansAreKeptNevertheless() throws Exception {
    for (int i = 0; i < MarkedTraces.MOST; i += 1_024) {
      Span.Builder[] spans = new Span.Builder[1_024];
      for (int j = 0; j < spans.length; j++) {
        spans[j] = failed(i + j, 1);
      }
      append(spans);
    }
    append(span(-1, 1), failed(-1, 2));
    pass(WAIT);
    assertThat(metrics.keeping()[2]).isEqualTo(1);
    assertThat(metrics.kept(Kept.FAILED)).isEqualTo(MarkedTraces.MOST + 1);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isEqualTo(1);
  }

  /** Each request and each span of it ends in exactly one count. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void theBooksBalance(int seed) throws Exception {
    open(new Keep(true, WAIT, 1_000, true, 0.1, 16 << 20));
    SplittableRandom random = new SplittableRandom(seed);
    int appended = 0;
    int sentSpans = 0;
    for (int i = 0; i < 500; i++) {
      Span.Builder[] spans = new Span.Builder[1 + random.nextInt(5)];
      for (int j = 0; j < spans.length; j++) {
        int trace = i + random.nextInt(20);
        spans[j] =
            switch (random.nextInt(20)) {
              case 0 -> failed(trace, i);
              case 1 -> slow(trace, i);
              case 2 -> span(trace, i).clearTraceId();
              case 3 -> span(-trace, i);
              default -> span(trace, i);
            };
        spans[j].addLinks(
            Span.Link.newBuilder().setTraceState("x".repeat(random.nextInt(100_000))));
      }
      append(spans);
      appended++;
      if (random.nextInt(3) == 0) {
        pass(random.nextInt(WAIT));
      }
      if (random.nextInt(10) == 0) {
        keeping.tidy();
      }
    }
    keeping.drain();
    pass(0);
    assertThat(keeping.isEmpty()).isTrue();
    for (byte[] request : requests) {
      sentSpans += spans(request).size();
    }
    long outOfRequests = 0;
    for (Kept outcome : List.of(Kept.SLOW, Kept.FAILED, Kept.TRACE, Kept.RATIO)) {
      assertThat(metrics.kept(outcome)).isPositive();
      outOfRequests += (long) metrics.kept(outcome);
    }
    assertThat(sentSpans).isEqualTo(outOfRequests);
    assertThat(metrics.kept(Kept.LEFT_OUT)).isPositive();
    assertThat(metrics.kept(Kept.MALFORMED)).isPositive();
    assertThat(metrics.kept(Kept.REQUEST)).isZero();
    assertThat(requests.size() + metrics.keeping()[0])
        .isEqualTo(appended - (long) metrics.dropped("a", Drop.BUFFER_FULL));
  }

  @Test
  void spansAllocateNothing() throws Exception {
    // Both exceed the part of a request that is read at a time.
    allocatedBy(15_000);
    assertThat(allocatedBy(15_000) - allocatedBy(3_000)).isLessThan(3_000);
  }

  /** Returns the bytes allocated to mark and decide on a request in which a few spans are kept. */
  private long allocatedBy(int spans) throws IOException {
    Span.Builder[] all = new Span.Builder[spans];
    for (int i = 0; i < spans; i++) {
      all[i] = i < 10 ? failed(i, 1) : span(i, 1);
    }
    append(all);
    millis += WAIT;
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    pass(0);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(keeping.isEmpty()).isTrue();
    return allocated;
  }

  @Test
  void damagedRequestsAreCounted() throws Exception {
    append(failed(1, 1));
    append(failed(2, 1));
    pass(1);
    Path segment = directory.resolve("0000000001.seg");
    byte[] damaged = Files.readAllBytes(segment);
    damaged[damaged.length - 1] ^= 1;
    Files.write(segment, damaged);
    pass(WAIT);
    assertThat(kept()).containsExactly("1.1");
    assertThat(metrics.dropped("a", Drop.DAMAGED)).isEqualTo(1);
    assertThat(keeping.isEmpty()).isTrue();

    byte[] noRequest = {1, 2, 3};
    keeping.append(noRequest, 3, millis, OtlpFormat.PROTOBUF);
    keeping.append(noRequest, 3, millis, OtlpFormat.JSON);
    pass(WAIT);
    assertThat(metrics.dropped("b", Drop.DAMAGED)).isEqualTo(3);
    assertThat(keeping.isEmpty()).isTrue();
  }

  private void append(Span.Builder... spans) throws IOException {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    for (Span.Builder span : spans) {
      scope.addSpans(span);
    }
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    request.addResourceSpansBuilder().addScopeSpans(scope);
    byte[] bytes = request.build().toByteArray();
    keeping.append(bytes, bytes.length, millis, OtlpFormat.PROTOBUF);
  }

  /** Lets time pass, and works until all is done that is due. */
  private void pass(long passedMillis) throws IOException {
    boolean worked = keeping.step(true);
    while (worked) {
      worked = keeping.step(true);
    }
    millis += passedMillis;
    do {
      worked = keeping.step(true);
    } while (worked);
  }

  private List<String> kept() throws IOException {
    List<String> names = new ArrayList<>();
    for (byte[] request : requests) {
      names.addAll(spans(request));
    }
    return names;
  }

  private static List<String> spans(byte[] request) throws IOException {
    return ExportTraceServiceRequest.parseFrom(request).getResourceSpansList().stream()
        .flatMap(resource -> resource.getScopeSpansList().stream())
        .flatMap(scope -> scope.getSpansList().stream())
        .map(Span::getName)
        .toList();
  }

  private static Span.Builder failed(long trace, long number) {
    Span.Builder span = span(trace, number);
    span.getStatusBuilder().setCode(StatusCode.STATUS_CODE_ERROR);
    return span;
  }

  private static Span.Builder slow(long trace, long number) {
    return span(trace, number).setEndTimeUnixNano(START + 2_000 * NANOS_PER_MILLI);
  }

  private static Span.Builder span(long trace, long number) {
    return Span.newBuilder()
        .setTraceId(id(1, trace))
        .setSpanId(id(number + 1))
        .setName(trace + "." + number)
        .setStartTimeUnixNano(START)
        .setEndTimeUnixNano(START + NANOS_PER_MILLI);
  }

  private static ByteString id(long... words) {
    ByteBuffer bytes = ByteBuffer.allocate(words.length * Long.BYTES);
    for (long word : words) {
      bytes.putLong(word);
    }
    return ByteString.copyFrom(bytes.array());
  }
}
