package org.traceetl.agent.source.ring;

import java.util.Base64;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.otlp.OtlpWriter.LeftOut;
import org.traceetl.agent.otlp.SpanEncoder;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingRecords;
import org.traceetl.proto.ring.RingSpanReader;

/**
 * Encodes copied records of a ring as OTLP, with all their attributes, events and links. Values
 * keep their types, except arrays and maps, which are JSON text in a ring.
 *
 * @param strings entries of the dictionary when the records were copied
 */
record RingSpanEncoder(RingSpanDecoder.Resource resource, RingDictionary.Strings strings)
    implements SpanEncoder {
  @Override
  public void encode(byte[] payload, int length, OtlpWriter to) {
    RingRecords records = new RingRecords();
    RingSpanReader in = new RingSpanReader();
    RingSpanReader ofResource = new RingSpanReader();
    to.resource(() -> {
      ofResource.resource(
          resource.bytes, 0, resource.bytes.length, resource.attributeCount, strings);
      attributes(ofResource, to);
    });
    // Checked by the decoder.
    boolean _ = records.wrap(payload, length);
    while (records.next()) {
      if (in.span(payload, records.bodyOffset(), records.bodyEnd(), strings)
          && RingSpanDecoder.invalid(in) == null) {
        span(in, to);
      } else {
        to.leftOut(LeftOut.MALFORMED);
      }
    }
  }

  private static void span(RingSpanReader in, OtlpWriter to) {
    to.span(in.traceIdHigh, in.traceIdLow, in.spanId, in.parentSpanId);
    to.kindAndTimes(
        in.kind <= RingSpanDecoder.MAX_KIND ? in.kind : 0, in.startUnixNanos, in.durationNanos);
    to.name(in.name.bytes, in.name.offset, in.name.length);
    to.sampling(
        RingSpanDecoder.is56Bits(in.samplingThreshold) ? in.samplingThreshold : 0,
        RingSpanDecoder.is56Bits(in.randomness) ? in.randomness : -1);
    to.status(
        in.status <= RingSpanDecoder.MAX_STATUS ? in.status : 0,
        in.statusMessage.bytes,
        in.statusMessage.offset,
        in.statusMessage.length);
    attributes(in, to);
    while (!to.isFull() && in.nextEvent()) {
      to.event(
          in.startUnixNanos + in.eventOffsetNanos,
          in.eventName.bytes,
          in.eventName.offset,
          in.eventName.length);
      attributes(in, to);
      to.endEvent();
    }
    for (int link = 0; link < in.links; link++) {
      to.link(in.linkTraceIdHigh(link), in.linkTraceIdLow(link), in.linkSpanId(link));
    }
    if (in.isBroken()) {
      to.abandonSpan(LeftOut.MALFORMED);
    } else {
      to.endSpan();
    }
  }

  private static void attributes(RingSpanReader in, OtlpWriter to) {
    while (!to.isFull() && in.nextAttribute()) {
      to.key(in.key.bytes, in.key.offset, in.key.length);
      switch (in.valueType) {
        case RingLayout.VALUE_FALSE, RingLayout.VALUE_TRUE ->
            to.value(in.valueType == RingLayout.VALUE_TRUE);
        case RingLayout.VALUE_INTEGER -> to.value(in.integer);
        case RingLayout.VALUE_DOUBLE -> to.value(in.real);
        case RingLayout.VALUE_BASE64 -> binary(in.text, to);
        default -> to.value(in.text.bytes, in.text.offset, in.text.length);
      }
    }
  }

  private static void binary(RingSpanReader.Slice text, OtlpWriter to) {
    // Checked before the copy. Text that is not base64 is written as it is, which is longer.
    if (!to.hasRoom(text.length)) {
      return;
    }
    byte[] encoded = new byte[text.length];
    System.arraycopy(text.bytes, text.offset, encoded, 0, text.length);
    try {
      to.value(Base64.getDecoder().decode(encoded));
    } catch (IllegalArgumentException e) {
      to.value(encoded, 0, encoded.length);
    }
  }

  @Override
  public int spans(byte[] payload, int length) {
    RingRecords records = new RingRecords();
    boolean _ = records.wrap(payload, length);
    int spans = 0;
    while (records.next()) {
      spans++;
    }
    return spans;
  }

  @Override
  public int heldBytes() {
    return strings.bytes().length;
  }
}
