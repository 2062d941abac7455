package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.file.TraceLines.TRACE_ID;
import static org.traceetl.agent.source.file.TraceLines.line;
import static org.traceetl.agent.source.file.TraceLines.resource;
import static org.traceetl.agent.source.file.TraceLines.tag;

import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;

final class TraceLineDecoderTest {
  private final TraceLineDecoder decoder = new TraceLineDecoder();
  private final RecordingSink spans = new RecordingSink();

  @Test
  void aLineIsASpan() {
    String tags =
        "["
            + tag("http.status_code", "int64", "200")
            + ","
            + tag("sampled", "bool", "true")
            + ","
            + tag("ratio", "float64", "0.5")
            + ","
            + tag("span.kind", "string", "server")
            + "]";
    String parent = "[" + reference(TRACE_ID, 255) + "]";

    assertThat(decode(line("checkout", "GET /", "OK", 4, tags, resource("checkout"), parent)))
        .isNull();

    Recorded span = spans.spans.getFirst();
    assertThat(span.resource()).isEqualTo(Map.of("service.name", "checkout", "ip", "10.0.0.7"));
    assertThat(span.name()).isEqualTo("GET /");
    assertThat(span.kind()).isEqualTo(2);
    assertThat(span.status()).isEqualTo(1);
    assertThat(span.spanId()).isEqualTo(5);
    assertThat(span.parentSpanId()).isEqualTo(0xff);
    assertThat(span.startUnixNanos()).isEqualTo(1_795_255_028_312_000_000L);
    assertThat(span.durationNanos()).isEqualTo(1_500_000);
    assertThat(span.attributes())
        .isEqualTo(
            Map.of(
                "http.status_code", "200",
                "sampled", "true",
                "ratio", "0.5",
                "span.kind", "server"));
  }

  @Test
  void sizeIsThatOfTheLineWithoutItsEnd() {
    String line = line("checkout", "größe", "OK", 4, "[]", resource("checkout"), "[]").strip();
    String bare = line.substring("2026-11-21 10:00:00.000 ||| ".length());
    byte[] lines = (line + "\n" + line + "\r\n" + bare + "\n").getBytes(UTF_8);
    new LineDecoder(lines.length, new MemoryIntake("test"), () -> 0)
        .decode(null, 0, lines, lines.length, spans);

    long size = line.getBytes(UTF_8).length;
    assertThat(spans.sizes).containsExactly(size, size, size - 28);
  }

  @ParameterizedTest
  @CsvSource({"server,2", "CLIENT,3", "producer,4", "consumer,5", "internal,1", "odd,1"})
  void theKindIsATag(String value, int kind) {
    decode(line("a", "x", "UNSET", 1, "[" + tag("span.kind", "string", value) + "]", "{}", "[]"));

    assertThat(spans.spans.getFirst().kind()).isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource({"UNSET,false,0", "OK,false,1", "ERROR,false,2", "UNSET,true,2", "OK,true,2"})
  void anErrorIsAStatusOrATag(String status, String error, int expected) {
    decode(line("a", "x", status, 1, "[" + tag("error", "bool", error) + "]", "{}", "[]"));

    assertThat(spans.spans.getFirst().status()).isEqualTo(expected);
  }

  @Test
  void escapedLineEndsTabsAndQuotesAreDecoded() {
    String tags =
        "[" + tag("db.statement", "string", "a##nb##rc##td##'e##r'f#g##h\\\\i größe 😀 ##") + "]";

    decode(line("a", "x", "UNSET", 1, tags, "{}", "[]"));

    assertThat(spans.spans.getFirst().attributes())
        .containsEntry("db.statement", "a\nb\rc\td\"e\\\"f#g##h\\i größe 😀 ##");
  }

  @Test
  void aValueCutWithinAnEscapeIsKept() {
    String tags = "[" + tag("path", "string", "C:\\......") + "]";

    decode(line("a", "x", "UNSET", 1, tags, "{}", "[]"));

    assertThat(spans.spans.getFirst().attributes()).containsEntry("path", "C:......");
  }

  @Test
  void anUnescapedResourceIsReplacedByFieldsOfTheLine() {
    String broken =
        "{\"serviceName\":\"a\",\"tags\":["
            + tag("process.command_args", "string", "[\"java\", \"-jar\"]")
            + "]}";

    assertThat(decode(line("a", "x", "UNSET", 1, "[]", broken, "[]"))).isNull();
    assertThat(spans.spans.getFirst().resource())
        .isEqualTo(Map.of("service.name", "a", "ip", "10.0.0.7"));
  }

  @Test
  void consecutiveLinesShareTheirResource() {
    decode(TraceLines.span("a", "x", 1));
    decode(TraceLines.span("a", "y", 2));
    decode(TraceLines.span("b", "x", 3));
    decode(TraceLines.span("a", "x", 4));

    assertThat(spans.resources).hasSize(3);
    assertThat(spans.spans.get(1).resource()).containsEntry("service.name", "a");
    assertThat(spans.spans.get(2).resource()).containsEntry("service.name", "b");
  }

  /** The writer puts a comma after each link. */
  @Test
  void referencesBeforeTheParentAreLinks() {
    String links =
        reference("ffffffffffffffffffffffffffffffff", 1) + "," + reference(TRACE_ID, 2) + ",";
    String withParent = "[" + links + reference(TRACE_ID, 255) + "]";
    String consumer = "[" + tag("span.kind", "string", "consumer") + "]";

    decode(line("a", "x", "UNSET", 1, consumer, "{}", withParent));
    decode(line("a", "x", "UNSET", 2, consumer, "{}", "[" + links + "]"));
    decode(line("a", "x", "UNSET", 3, consumer, "{}", "[]"));
    decode(line("a", "x", "UNSET", 4, "[]", "{}", withParent));

    assertThat(spans.spans).extracting(Recorded::parentSpanId).containsExactly(255L, 0L, 0L, 255L);
    List<String> linked =
        List.of(
            "ffffffffffffffffffffffffffffffff 0000000000000001", TRACE_ID + " 0000000000000002");
    assertThat(spans.links).containsExactly(linked, linked, List.of(), List.of());
  }

  private static String reference(String traceId, int spanId) {
    return "{\"traceID\":\"%s\",\"spanID\":\"%016x\",\"refType\":\"CHILD_OF\"}"
        .formatted(traceId, spanId);
  }

  @Test
  void aLineWithoutTimeOrLastSeparatorIsRead() {
    String whole = TraceLines.span("a", "x", 1);
    String bare = whole.substring(whole.indexOf(" ||| ") + 5).stripTrailing();

    assertThat(decode(bare)).isNull();
    assertThat(decode(bare.substring(0, bare.length() - 4))).isNull();
    assertThat(spans.spans).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          nothing of a span              ; bad_fields
          1 ### 2 ### 3                  ; bad_fields
          """)
  void aLineWithoutASpanIsRejected(String line, String reason) {
    assertThat(decode(line)).isEqualTo(reason);
    assertThat(spans.spans).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "1795255028312000000,x,bad_number",
    "1500000,-5,bad_number",
    "1500000,99999999999999999999,bad_number",
    TRACE_ID + ",00000000000000000000000000000000,bad_id",
    TRACE_ID + ",0af7651916cd43dd8448eb211c80319g,bad_id",
    "0000000000000002,12,bad_id",
    "[{,[{{,bad_tags"
  })
  void anInvalidFieldIsRejectedByReason(String is, String becomes, String reason) {
    String line = TraceLines.span("a", "x", 1);
    assertThat(line).contains(is);

    assertThat(decode(line.replaceFirst(java.util.regex.Pattern.quote(is), becomes)))
        .isEqualTo(reason);
    assertThat(spans.spans).isEmpty();
  }

  @Property(tries = 500)
  void noBytesMakeItThrow(@ForAll byte[] noise, @ForAll boolean inALine, @ForAll int at) {
    byte[] line = TraceLines.span("checkout", "GET /", 7).getBytes(UTF_8);
    if (inALine && noise.length > 0) {
      int from = Math.floorMod(at, line.length);
      System.arraycopy(noise, 0, line, from, Math.min(noise.length, line.length - from));
    } else {
      line = noise;
    }
    TraceLineDecoder fresh = new TraceLineDecoder();
    RecordingSink taken = new RecordingSink();

    String problem = fresh.decode(line, 0, line.length, taken);

    assertThat(taken.spans).hasSize(problem == null ? 1 : 0);
  }

  private String decode(String line) {
    byte[] bytes = line.stripTrailing().concat(line.endsWith("\n") ? " " : "").getBytes(UTF_8);
    return decoder.decode(bytes, 0, bytes.length, spans);
  }
}
