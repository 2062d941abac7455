package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A ring as text: a line for its resource, and one for each span that is whole and was not
 * consumed. Nothing of the file changes. As a program it prints the file that it is given.
 */
public final class RingText {
  private static final long MOST_DICTIONARY_BYTES = 64 << 20;

  private RingText() {}

  /** Prints a ring's lines. */
  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, UTF_8);
    lines(Path.of(args[0])).forEach(out::println);
  }

  /** The lines of a ring. */
  public static List<String> lines(Path path) throws IOException, MalformedRingException {
    try (FileChannel channel =
            FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      return lines(channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena));
    }
  }

  /** The lines of a ring in memory. */
  public static List<String> lines(MemorySegment file) throws MalformedRingException {
    byte[] start =
        file.asSlice(0, Math.min(file.byteSize(), RingLayout.MAX_HEADER_BYTES))
            .toArray(ValueLayout.JAVA_BYTE);
    RingHeader header = RingHeader.read(ByteBuffer.wrap(start));
    RingCursor ring = new RingCursor(file, header);
    RingDictionary dictionary = new RingDictionary();
    RingSpanReader span = new RingSpanReader();
    List<String> lines = new ArrayList<>();
    dictionary.update(ring, MOST_DICTIONARY_BYTES);
    int resourceEnd = RingLayout.RESOURCE_OFFSET + header.resourceBytes();
    span.resource(
        start,
        RingLayout.RESOURCE_OFFSET,
        resourceEnd,
        header.resourceAttributes(),
        dictionary.strings());
    lines.add("resource " + attributes(span));
    long from = ring.head();
    long tail = ring.tail(from, from);
    byte[] bytes = new byte[1 << 20];
    RingRecords records = new RingRecords();
    while (from < tail) {
      long to = ring.wholeUntil(from, tail, bytes.length);
      if (to == from) {
        return lines;
      }
      dictionary.update(ring, MOST_DICTIONARY_BYTES);
      if (!records.wrap(bytes, ring.copy(from, to, bytes))) {
        throw new IllegalStateException("the records changed");
      }
      while (records.next()) {
        if (!span.span(bytes, records.bodyOffset(), records.bodyEnd(), dictionary.strings())) {
          lines.add("malformed");
        } else {
          lines.add(line(span));
        }
      }
      from = to;
    }
    return lines;
  }

  private static String line(RingSpanReader span) {
    StringBuilder line = new StringBuilder();
    line.append(
        String.format(
            "span %016x%016x %016x %016x start=%d duration=%d kind=%d status=%d",
            span.traceIdHigh,
            span.traceIdLow,
            span.spanId,
            span.parentSpanId,
            span.startUnixNanos,
            span.durationNanos,
            span.kind,
            span.status));
    if (span.samplingThreshold != 0) {
      line.append(String.format(" th=%014x", span.samplingThreshold));
    }
    if (span.randomness >= 0) {
      line.append(String.format(" rv=%014x", span.randomness));
    }
    line.append(" name=" + quoted(span.name));
    if (span.statusMessage.length > 0) {
      line.append(" message=" + quoted(span.statusMessage));
    }
    line.append(" " + attributes(span));
    while (span.nextEvent()) {
      line.append(" event " + quoted(span.eventName) + " " + span.eventOffsetNanos + " ");
      line.append(attributes(span));
    }
    for (int link = 0; link < span.links; link++) {
      line.append(
          String.format(
              " link %016x%016x %016x",
              span.linkTraceIdHigh(link), span.linkTraceIdLow(link), span.linkSpanId(link)));
    }
    return span.isBroken() ? "malformed" : line.toString();
  }

  private static String attributes(RingSpanReader span) {
    List<String> attributes = new ArrayList<>();
    while (span.nextAttribute()) {
      String value =
          switch (span.valueType) {
            case RingLayout.VALUE_FALSE -> "false";
            case RingLayout.VALUE_TRUE -> "true";
            case RingLayout.VALUE_INTEGER -> Long.toString(span.integer);
            case RingLayout.VALUE_DOUBLE -> "double " + span.real;
            case RingLayout.VALUE_JSON -> "json " + quoted(span.text);
            case RingLayout.VALUE_BASE64 -> "base64 " + quoted(span.text);
            default -> quoted(span.text);
          };
      attributes.add(quoted(span.key) + ": " + value);
    }
    // The order has no meaning; some writers sort by key.
    attributes.sort(null);
    return "{" + String.join(", ", attributes) + "}";
  }

  private static String quoted(RingSpanReader.Slice slice) {
    String text = new String(slice.bytes, slice.offset, slice.length, UTF_8);
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }
}
