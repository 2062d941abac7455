package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.otlp.SpanEncoder;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingCursor;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingHeader;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

/** A ring that was filled once. */
public final class TestRing {
  private static final int BYTES = 1 << 20;

  private final RingDictionary dictionary = new RingDictionary();
  private final byte[] payload;

  /** Writes the spans to a ring in the folder. */
  public TestRing(Path folder, List<RingSpan> spans) throws IOException, MalformedRingException {
    RingWriter.Shape shape =
        new RingWriter.Shape(4_096, 1 << 17, BYTES, 7, 0, 0, 0, Map.of("service.name", "x"));
    try (RingWriter writer = RingWriter.create(folder, "1-0123456789abcdef.ring", shape)) {
      spans.forEach(writer::write);
      RingCursor cursor =
          new RingCursor(
              writer.file(), RingHeader.read(writer.file().asSlice(0, 4_096).asByteBuffer()));
      byte[] copied = new byte[BYTES];
      payload = Arrays.copyOf(copied, cursor.copy(0, cursor.tail(), copied));
      System.arraycopy(copied, 0, payload, 0, payload.length);
      dictionary.update(cursor, BYTES);
    }
  }

  /** Returns the records of the ring. */
  public byte[] payload() {
    return payload;
  }

  /** Returns an encoder of records of the ring, whose resource is a string and an integer. */
  public SpanEncoder encoder() {
    byte[] attributes = {3, 'a', 0, 3, 'b', 3, 'n', 3, 14};
    return new RingSpanEncoder(
        RingSpanDecoder.Resource.read(attributes, 2, dictionary.strings()), dictionary.strings());
  }

  /** Returns a decoder of records of the ring, with an empty resource. */
  public SpanDecoder decoder(LongAdder attributesLeftOut) {
    RingSpanDecoder decoder = new RingSpanDecoder(attributesLeftOut);
    RingSpanDecoder.Resource resource =
        RingSpanDecoder.Resource.read(new byte[0], 0, dictionary.strings());
    return (bytes, length, sink) ->
        decoder.decode(bytes, length, resource, dictionary.strings(), sink);
  }
}
