package org.traceetl.exporter.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingWriterTest {
  private static final int SMALL_RING = 64 << 10;
  private static final int SMALL_DICTIONARY = 4096;
  private static final Attributes RESOURCE =
      Attributes.builder().put("service.name", "shop").put("process.pid", 7L).build();

  @TempDir Path directory;
  private RingWriter writer;
  private RingReader reader;

  @AfterEach
  void close() throws IOException {
    if (writer != null) {
      writer.close();
      reader.close();
    }
  }

  @Test
  void aWrittenSpanIsReadUnchanged() throws Exception {
    SpanData span =
        span("GET /cart")
            .setAttributes(
                Attributes.builder()
                    .put("http.request.method", "GET")
                    .put("http.response.status_code", 200)
                    .put("ratio", 0.25)
                    .put("cached", true)
                    .put("sizes", 1, 2)
                    .build())
            .setStatus(StatusData.create(io.opentelemetry.api.trace.StatusCode.ERROR, "no stock"))
            .setEvents(
                List.of(
                    EventData.create(1_500, "retry", Attributes.builder().put("n", 1).build()),
                    EventData.create(900, "early", Attributes.empty())))
            .build();
    open();
    assertThat(writer.write(span)).isTrue();

    assertThat(reader.poll().toString())
        .isEqualTo(
            "[00112233445566778899aabbccddeeff/0123456789abcdef<fedcba9876543210"
                + " kind 2 status 2 'no stock' [1000 +2000] th 56294995342131200 rv -1"
                + " GET /cart [Attribute[key=cached, value=true],"
                + " Attribute[key=http.request.method, value=GET],"
                + " Attribute[key=http.response.status_code, value=200],"
                + " Attribute[key=ratio, value=0.25], Attribute[key=sizes, value=JSON [1,2]]]"
                + " [Event[name=retry, afterStartNanos=500,"
                + " attributes=[Attribute[key=n, value=1]]],"
                + " Event[name=early, afterStartNanos=-100, attributes=[]]] []]");
    assertThat(reader.poll()).isEmpty();
  }

  @Test
  void theHeaderNamesTheProcessAndItsResource() throws Exception {
    open();
    assertThat(reader.resource().toString())
        .isEqualTo(
            "[Attribute[key=process.pid, value=7], Attribute[key=service.name, value=shop]]");
    long pid = ProcessHandle.current().pid();
    assertThat(writer.file().getFileName().toString()).matches(pid + "-[0-9a-f]{16}\\.ring");
    assertThat(reader.file().getLong(32)).isEqualTo(pid);
    assertThat(reader.file().getLong(40))
        .isEqualTo(ProcessHandle.current().info().startInstant().orElseThrow().toEpochMilli());
    StringBuilder boot = new StringBuilder();
    for (int i = 48; i < 64; i++) {
      boot.append(String.format("%02x", reader.file().get(i)));
    }
    assertThat(boot.toString())
        .isEqualTo(
            Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim().replace("-", ""));
  }

  @Test
  void theAgentMayReadTheFileWhichHasNoHoles() throws Exception {
    open();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(writer.file())))
        .isEqualTo("rw-rw----");
    assertThat(Files.size(writer.file())).isEqualTo(4096 + SMALL_DICTIONARY + SMALL_RING);
    long blocksOf512 = Long.parseLong(run("stat", "-c", "%b", writer.file().toString()).trim());
    assertThat(blocksOf512 * 512).isGreaterThanOrEqualTo(Files.size(writer.file()));
    assertThat(writer.isThere()).isTrue();
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(writer.file());
    }
    Files.delete(writer.file());
    assertThat(writer.isThere()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void randomSpansAreReadUnchanged(long seed) throws Exception {
    RandomSpans spans = new RandomSpans(seed);
    open(SMALL_RING, SMALL_DICTIONARY * (int) seed, RESOURCE);
    for (int round = 0; round < 300; round++) {
      List<String> written = new ArrayList<>();
      for (int i = 0; i <= round % 7; i++) {
        SpanData span = spans.next();
        if (writer.write(span)) {
          written.add(RandomSpans.expected(span));
        }
      }
      assertThat(reader.poll().stream().map(RingSpan::toString)).isEqualTo(written);
    }
    assertThat(reader.paddings()).isPositive();
    assertThat(reader.dictionary()).isNotEmpty().doesNotHaveDuplicates();
  }

  /** The next ones have the same objects for keys and values, which are not looked up again. */
  @Test
  void aDroppedSpanDoesNotDamageLaterOnes() throws Exception {
    int record = SMALL_RING / 4;
    open(SMALL_RING, 256 << 10, RESOURCE);
    for (int more = 0; more < 100; more++) {
      Attributes same =
          Attributes.builder().put("a" + more, "often").put("b" + more, "more often").build();
      Attributes large = same.toBuilder().put("0", "x".repeat(record - 160 + more)).build();
      for (Attributes attributes : List.of(large, same, large, same)) {
        SpanData span = span("GET /cart").setAttributes(attributes).build();
        if (writer.write(span)) {
          assertThat(reader.poll().get(0).toString()).isEqualTo(RandomSpans.expected(span));
        }
      }
    }
    assertThat(writer.droppedAsTooLarge()).isPositive();
  }

  @Test
  void aLargeResourceIsCutToTheHeader() throws Exception {
    AttributesBuilder resource = Attributes.builder().put("service.name", "shop");
    for (int i = 0; i < 20; i++) {
      resource.put("a" + i, "x".repeat(10_000));
    }
    open(SMALL_RING, SMALL_DICTIONARY, resource.build());
    assertThat(reader.resource().size()).isEqualTo(12 + 1);
    assertThat(reader.resource()).contains(new RingSpan.Attribute("service.name", "shop"));
    assertThat(writer.write(span("a").build())).isTrue();
    assertThat(reader.poll()).hasSize(1);
  }

  @Test
  void spansAboveTheFreeRoomAreDroppedAndCounted() throws Exception {
    open();
    int written = 0;
    while (writer.write(span("a").build())) {
      written++;
    }
    assertThat(writer.write(span("a").build())).isFalse();
    assertThat(writer.droppedAsFull()).isEqualTo(2);
    assertThat(reader.file().getLong(264)).isEqualTo(2);

    assertThat(reader.poll()).hasSize(written);
    assertThat(writer.write(span("a").build())).isTrue();
    assertThat(reader.poll()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"65536, 16384", "1048576, 65536"})
  void spansAboveTheLargestRecordAreDroppedAndCounted(int ringBytes, int recordBytes)
      throws Exception {
    open(ringBytes, SMALL_DICTIONARY, RESOURCE);
    writer.write(withText(1000));
    RingSpan one = reader.poll().get(0);
    long before = reader.file().getLong(128);
    writer.write(withText(1000));
    int besidesText = (int) (reader.file().getLong(128) - before) - 1000;
    assertThat(reader.poll().toString()).isEqualTo(List.of(one).toString());
    // The length of the longer text takes a byte more.
    int longest = recordBytes - besidesText - 8;

    assertThat(writer.write(withText(longest))).isTrue();
    assertThat(reader.poll()).hasSize(1);
    assertThat(writer.write(withText(longest + 24))).isFalse();
    assertThat(writer.write(withText(1_000_000))).isFalse();
    assertThat(writer.droppedAsTooLarge()).isEqualTo(2);
    assertThat(reader.file().getLong(272)).isEqualTo(2);
    assertThat(reader.file().getLong(264)).isZero();
  }

  @Test
  void linksThatDoNotFitAreDropped() throws Exception {
    List<LinkData> links =
        Collections.nCopies(140, LinkData.create(span("linked").build().getSpanContext()));
    open();
    List<Integer> written = new ArrayList<>();
    // A link has 24 bytes.
    for (int chars = SMALL_RING / 4 - 24 * 140; ; chars += 24) {
      Attributes text = Attributes.builder().put("text", "x".repeat(chars)).build();
      if (!writer.write(
          span("a").setKind(SpanKind.CONSUMER).setAttributes(text).setLinks(links).build())) {
        break;
      }
      written.add(reader.poll().get(0).links.size());
    }
    int first = written.lastIndexOf(128);
    assertThat(first).isPositive();
    assertThat(written.subList(0, first)).containsOnly(128);
    assertThat(written.subList(first, written.size()))
        .isEqualTo(IntStream.rangeClosed(0, 128).mapToObj(n -> 128 - n).toList());
  }

  @Test
  void aFullDictionaryLeavesStringsInSpans() throws Exception {
    open();
    for (int i = 0; i < 2000; i++) {
      String name = "name " + i;
      assertThat(
              writer.write(
                  span(name)
                      .setAttributes(Attributes.builder().put("key " + i, "v").build())
                      .build()))
          .isTrue();
      RingSpan read = reader.poll().get(0);
      assertThat(read.name).isEqualTo(name);
      assertThat(read.attribute("key " + i)).isEqualTo("v");
    }
    assertThat(reader.file().getLong(256)).isBetween(4096L - 16, 4096L);
    assertThat(reader.dictionary()).contains("name 0", "key 0").doesNotContain("v", "name 1999");
  }

  @Test
  void aFrequentValueEntersTheDictionary() throws Exception {
    open();
    for (int i = 0; i < 50; i++) {
      writer.write(
          span("a")
              .setAttributes(
                  Attributes.builder()
                      .put("often", new String("value"))
                      .put("never again", "value " + i)
                      .build())
              .build());
      assertThat(reader.poll().get(0).attribute("often")).isEqualTo("value");
    }
    assertThat(reader.dictionary()).containsExactlyInAnyOrder("a", "never again", "often", "value");
  }

  @Test
  void frequentValuesEnterTheDictionaryDespiteManyUniqueOnes() throws Exception {
    open();
    for (int i = 0; i < 10_000; i++) {
      String value = i < 1_000 ? "value " + i : "value " + "ab".charAt(i % 2);
      writer.write(span("a").setAttributes(Attributes.builder().put("key", value).build()).build());
      assertThat(reader.poll().get(0).attribute("key")).isEqualTo(value);
    }
    assertThat(reader.dictionary()).containsExactlyInAnyOrder("a", "key", "value a", "value b");
  }

  @Test
  void manyThreadsLoseOnlyCountedSpans() throws Exception {
    int threads = 6;
    int each = 30_000;
    open();
    AtomicInteger running = new AtomicInteger(threads);
    AtomicInteger written = new AtomicInteger();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      int thread = t;
      Thread worker =
          new Thread(() -> {
            for (int i = 0; i < each; i++) {
              if (writer.write(numbered(thread, i))) {
                written.incrementAndGet();
              }
            }
            running.decrementAndGet();
          });
      worker.setUncaughtExceptionHandler((ignored, e) -> {
        failures.add(e);
        running.decrementAndGet();
      });
      worker.start();
    }
    Map<Object, Long> last = new HashMap<>();
    int read = 0;
    boolean ended;
    do {
      ended = running.get() == 0;
      for (RingSpan span : reader.poll()) {
        long number = (long) span.attribute("number");
        assertThat(span.name).isEqualTo("name " + number % 50);
        assertThat(span.startNanos).isEqualTo(number);
        Long before = last.put(span.attribute("thread"), number);
        assertThat(before == null || before < number).isTrue();
        read++;
      }
    } while (!ended);

    assertThat(failures).isEmpty();
    assertThat(read).isEqualTo(written.get()).isPositive();
    assertThat(read + writer.droppedAsFull()).isEqualTo(threads * each);
    assertThat(reader.dictionary()).doesNotHaveDuplicates();
  }

  @Test
  void afterCloseNothingIsWritten() throws Exception {
    open();
    writer.write(span("before").build());
    writer.close();
    writer.close();
    assertThat(writer.write(span("after").build())).isFalse();
    assertThat(writer.droppedAsFull()).isZero();
    assertThat(reader.poll()).hasSize(1);
  }

  @Test
  void aFailedCreationLeavesNoFile() throws Exception {
    RingSize size = RingSize.of(SMALL_RING, SMALL_DICTIONARY);
    assertThatThrownBy(() -> RingWriter.create(directory.resolve("none"), size, RESOURCE))
        .isInstanceOf(NoSuchFileException.class);
    Path file = Files.writeString(directory.resolve("file"), "x");
    assertThatThrownBy(() -> RingWriter.create(file, size, RESOURCE))
        .isInstanceOf(FileSystemException.class);
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "65535, 4096, 'ring-bytes = 65535: must be a power of two from 65536 to 1073741824'",
    "100000, 4096, 'ring-bytes = 100000: must be a power of two from 65536 to 1073741824'",
    "2147483648, 4096, 'ring-bytes = 2147483648: must be a power of two from 65536 to 1073741824'",
    "65536, 0, 'dictionary-bytes = 0: must be a multiple of 4096 from 4096 to 16777216'",
    "65536, 5000, 'dictionary-bytes = 5000: must be a multiple of 4096 from 4096 to 16777216'",
    "65536, 16781312, 'dictionary-bytes = 16781312: must be a multiple of 4096 from 4096 to 16777216'",
  })
  void anInvalidSizeIsNamedInTheError(long ringBytes, long dictionaryBytes, String message) {
    assertThatThrownBy(() -> RingSize.of(ringBytes, dictionaryBytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @CsvSource({
    "th:c8, 56294995342131200, -1",
    "th:0, 0, -1",
    "th:00000000000001, 1, -1",
    "th:ffffffffffffff, 72057594037927935, -1",
    "th:000000000000001, 0, -1",
    "th:, 0, -1",
    "th:C8, 0, -1",
    "th:4 ;rv:00000000000001, 18014398509481984, 1",
    "rv:ffffffffffffff;th:8, 36028797018963968, 72057594037927935",
    "rv:fff, 0, -1",
    "xth:4;th:8;th:4, 36028797018963968, -1",
  })
  void samplingIsReadFromTheTracestate(String member, long threshold, long randomness) {
    assertThat(Sampling.threshold(member)).isEqualTo(threshold);
    assertThat(Sampling.randomness(member)).isEqualTo(randomness);
  }

  @Test
  void aValueWithAHighDictionaryNumberIsReadUnchanged() throws Exception {
    SpanData span =
        span("name").setAttributes(Attributes.builder().put("key", "again").build()).build();
    open(SMALL_RING, 16 << 20, RESOURCE);
    // Their names are in the dictionary also where the ring is full.
    for (int name = 0; name < 1 << 20; name++) {
      writer.write(span(Integer.toString(name, Character.MAX_RADIX)).build());
    }
    reader.poll();

    for (int i = 0; i < 16; i++) {
      assertThat(writer.write(span)).isTrue();
    }
    assertThat(reader.poll())
        .hasSize(16)
        .allSatisfy(read ->
            assertThat(read.attributes).containsExactly(new RingSpan.Attribute("key", "again")));
  }

  @Test
  void textIsEncodedAsByTheJdk() {
    for (String text :
        List.of(
            "",
            "abc",
            "äö",
            "日本語",
            "😀",
            "a\ud83d",
            "\ude00b",
            "\ud83d\ud83d\ude00",
            "\0",
            "\ue000\uffff")) {
      byte[] expected = text.getBytes(UTF_8);
      byte[] written = new byte[expected.length];
      assertThat(Utf8Encoder.length(text)).isEqualTo(expected.length);
      assertThat(Utf8Encoder.write(text, written, 0)).isEqualTo(expected.length);
      assertThat(written).isEqualTo(expected);
    }
  }

  private void open() throws IOException {
    open(SMALL_RING, SMALL_DICTIONARY, RESOURCE);
  }

  private void open(int ringBytes, int dictionaryBytes, Attributes resource) throws IOException {
    writer = RingWriter.create(directory, RingSize.of(ringBytes, dictionaryBytes), resource);
    reader = new RingReader(writer.file());
  }

  private static SpanData withText(int chars) {
    return span("a")
        .setAttributes(Attributes.builder().put("text", "x".repeat(chars)).build())
        .build();
  }

  private static SpanData numbered(int thread, int number) {
    return span("name " + number % 50)
        .setStartEpochNanos(number)
        .setAttributes(
            Attributes.builder()
                .put("thread", thread)
                .put("number", number)
                .put("text", "value " + number % 20)
                .build())
        .build();
  }

  static TestSpanData.Builder span(String name) {
    return TestSpanData.builder()
        .setHasEnded(true)
        .setName(name)
        .setKind(SpanKind.SERVER)
        .setStatus(StatusData.unset())
        .setSpanContext(
            SpanContext.create(
                "00112233445566778899aabbccddeeff",
                "0123456789abcdef",
                TraceFlags.getSampled(),
                TraceState.builder().put("ot", "th:c8").build()))
        .setParentSpanContext(
            SpanContext.create(
                "00112233445566778899aabbccddeeff",
                "fedcba9876543210",
                TraceFlags.getSampled(),
                TraceState.getDefault()))
        .setStartEpochNanos(1000)
        .setEndEpochNanos(3000);
  }

  private static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), UTF_8);
  }
}
