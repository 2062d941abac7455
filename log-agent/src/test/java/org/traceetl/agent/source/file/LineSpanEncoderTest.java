package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.file.TraceLines.line;
import static org.traceetl.agent.source.file.TraceLines.resource;
import static org.traceetl.agent.source.file.TraceLines.span;
import static org.traceetl.agent.source.file.TraceLines.tag;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.otlp.OtlpWriter.LeftOut;
import org.traceetl.agent.otlp.Written;

final class LineSpanEncoderTest {
  private final LineSpanEncoder encoder = new LineSpanEncoder(100_000);

  @Test
  void aLineIsASpan() {
    String tags =
        "["
            + tag("span.kind", "string", "client")
            + ","
            + tag("http.status_code", "int64", "502")
            + ","
            + tag("error", "bool", "true")
            + "]";
    String parent =
        "[{\"traceID\":\"" + TraceLines.TRACE_ID + "\",\"spanID\":\"00f067aa0ba902b7\"}]";

    Written written = encode(line("shop", "GET /x", "ERROR", 6, tags, resource("shop"), parent));

    ResourceSpans found = written.requests.getFirst().getResourceSpans(0);
    assertThat(texts(found.getResource().getAttributesList()))
        .isEqualTo(Map.of("service.name", "shop", "ip", "10.0.0.7"));
    Span span = found.getScopeSpans(0).getSpans(0);
    assertThat(hex(span.getTraceId().toByteArray())).isEqualTo(TraceLines.TRACE_ID);
    assertThat(hex(span.getSpanId().toByteArray())).isEqualTo("0000000000000007");
    assertThat(hex(span.getParentSpanId().toByteArray())).isEqualTo("00f067aa0ba902b7");
    assertThat(span.getName()).isEqualTo("GET /x");
    assertThat(span.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CLIENT);
    assertThat(span.getStatus().getCodeValue()).isEqualTo(2);
    assertThat(span.getStartTimeUnixNano()).isEqualTo(1_795_255_028_312_000_000L);
    assertThat(span.getEndTimeUnixNano()).isEqualTo(1_795_255_028_313_500_000L);
    assertThat(texts(span.getAttributesList()))
        .isEqualTo(Map.of("span.kind", "client", "http.status_code", "502", "error", "true"));
  }

  @Test
  void linesOfSeveralApplicationsKeepTheirResourceAndOthersAreCounted() {
    String lines =
        span("shop", "a", 1)
            + "no span\n\r\n\n"
            + span("shop", "b", 2)
            + span("cart", "c", 3)
            + "x".repeat(100_001)
            + "\n";

    Written written = encode(lines);

    assertThat(
            written.requests.getFirst().getResourceSpansList().stream()
                .map(each ->
                    texts(each.getResource().getAttributesList()).get("service.name")
                        + " "
                        + each.getScopeSpans(0).getSpansCount()))
        .containsExactly("shop 2", "cart 1");
    assertThat(written.leftOut).containsExactly(LeftOut.MALFORMED, LeftOut.MALFORMED);
    byte[] bytes = lines.getBytes(UTF_8);
    assertThat(encoder.spans(bytes, bytes.length)).isEqualTo(5);
  }

  @Test
  void eachRequestOfAChunkHasTheWholeResource() {
    String tags =
        String.join(
            ",",
            tag("host.name", "string", "host-1"),
            tag("service.name", "string", "shop"),
            tag("deployment.environment", "string", "production"));
    String parent =
        "[{\"traceID\":\"" + TraceLines.TRACE_ID + "\",\"spanID\":\"00f067aa0ba902b7\"}]";
    String resource = "{\"tags\":[" + tags + "]}";
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      String text = "[" + tag("text", "string", "x".repeat(137 * i % 20_000)) + "]";
      lines.append(line("shop", "a", "OK", i, text, resource, i % 2 == 0 ? parent : "[]"));
    }

    Written written = encode(lines.toString());

    assertThat(written.requests).hasSizeGreaterThan(2);
    assertThat(written.spans.stream().mapToInt(each -> each).sum()).isEqualTo(300);
    assertThat(written.requests)
        .allSatisfy(request ->
            assertThat(texts(request.getResourceSpans(0).getResource().getAttributesList()))
                .isEqualTo(
                    Map.of(
                        "host.name",
                        "host-1",
                        "service.name",
                        "shop",
                        "deployment.environment",
                        "production",
                        "ip",
                        "10.0.0.7")));
  }

  private Written encode(String lines) {
    return Written.of(encoder, lines.getBytes(UTF_8));
  }

  private static Map<String, String> texts(List<KeyValue> attributes) {
    return attributes.stream()
        .collect(Collectors.toMap(KeyValue::getKey, each -> each.getValue().getStringValue()));
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
