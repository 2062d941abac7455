package org.traceetl.agent.source.file;

import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.otlp.OtlpWriter.LeftOut;
import org.traceetl.agent.otlp.SpanEncoder;

/**
 * Encodes lines of a trace log as OTLP. All values are strings, the events of a line are left out,
 * and so are the links of spans that are no consumers, as in the spans that count.
 */
final class LineSpanEncoder implements SpanEncoder, SpanSink {
  private final int maxLineBytes;
  private final TraceLineDecoder decoder = new TraceLineDecoder();
  private final Attributes resource = new Attributes();
  private OtlpWriter to;

  LineSpanEncoder(int maxLineBytes) {
    this.maxLineBytes = maxLineBytes;
  }

  @Override
  public void encode(byte[] lines, int length, OtlpWriter to) {
    this.to = to;
    decoder.startPayload();
    for (int from = 0; from < length; ) {
      int lineEnd = LineDecoder.lineEnd(lines, from);
      int end = LineDecoder.contentEnd(lines, from, lineEnd);
      if (end > from
          && (end - from > maxLineBytes || decoder.decode(lines, from, end, this) != null)) {
        rejected("");
      }
      from = lineEnd + 1;
    }
  }

  @Override
  public int spans(byte[] lines, int length) {
    int spans = 0;
    for (int from = 0; from < length; ) {
      int lineEnd = LineDecoder.lineEnd(lines, from);
      spans += LineDecoder.contentEnd(lines, from, lineEnd) > from ? 1 : 0;
      from = lineEnd + 1;
    }
    return spans;
  }

  @Override
  public void resource(Attributes attributes) {
    // Copied, because the next line overwrites the bytes, and each request gets the resource.
    byte[] texts = new byte[(int) attributes.textBytes()];
    resource.clear();
    int at = 0;
    for (int i = 0; i < attributes.size(); i++) {
      int keyLength = attributes.keyLength(i);
      int valueAt = at + keyLength;
      int valueLength = attributes.valueLength(i);
      System.arraycopy(attributes.key(i), attributes.keyOffset(i), texts, at, keyLength);
      System.arraycopy(attributes.value(i), attributes.valueOffset(i), texts, valueAt, valueLength);
      resource.add(texts, at, keyLength, texts, valueAt, valueLength);
      at = valueAt + valueLength;
    }
    to.resource(() -> write(resource));
  }

  @Override
  public boolean span(SpanView span) {
    to.span(span.traceIdHigh, span.traceIdLow, span.spanId, span.parentSpanId);
    to.kindAndTimes(span.kind, span.startUnixNanos, span.durationNanos);
    to.name(span.name, span.nameOffset, span.nameLength);
    to.status(span.status, span.name, 0, 0);
    write(span.attributes);
    for (int link = 0; link < span.links.size(); link++) {
      to.link(span.links.traceIdHigh(link), span.links.traceIdLow(link), span.links.spanId(link));
    }
    to.endSpan();
    return true;
  }

  private void write(Attributes attributes) {
    for (int i = 0; i < attributes.size() && !to.isFull(); i++) {
      to.key(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i));
      to.value(attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i));
    }
  }

  @Override
  public void rejected(String reason) {
    to.leftOut(LeftOut.MALFORMED);
  }
}
