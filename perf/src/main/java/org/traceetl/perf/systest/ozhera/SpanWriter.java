package org.traceetl.perf.systest.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TValue;

/** Encodes spans as messages in Thrift's compact protocol. Confined to one thread. */
public final class SpanWriter {
  /** A field number that the current version does not use. */
  private static final int UNKNOWN_FIELD = 99;

  private static final int TYPE_BINARY = 8;
  private static final byte[] UNKNOWN_VALUE = "from a later version".getBytes(UTF_8);

  private final TSerializer serializer;

  public SpanWriter() throws TException {
    serializer = new TSerializer(new TCompactProtocol.Factory());
  }

  public byte[] write(TSpanData span) throws TException {
    return serializer.serialize(span);
  }

  /** Encodes a span with a field at its end that current readers do not know. */
  byte[] writeWithUnknownField(TSpanData span) throws TException {
    byte[] known = write(span);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    // Omits the byte that ends the struct.
    bytes.write(known, 0, known.length - 1);
    // The field may be far from the last one, so its header has the long form: type, number.
    bytes.write(TYPE_BINARY);
    int zigzag = UNKNOWN_FIELD * 2;
    bytes.write(zigzag & 0x7f | 0x80);
    bytes.write(zigzag >>> 7);
    bytes.write(UNKNOWN_VALUE.length);
    bytes.write(UNKNOWN_VALUE, 0, UNKNOWN_VALUE.length);
    bytes.write(0);
    return bytes.toByteArray();
  }

  /** Adds an attribute with a text; if the text is null, the attribute has no value. */
  public static TAttributes put(TAttributes to, String key, String value) {
    TValue text = new TValue();
    if (value != null) {
      text.setStringValue(value);
    }
    return put(to, key, TAttributeType.STRING, text);
  }

  public static TAttributes put(TAttributes to, String key, long value) {
    return put(to, key, TAttributeType.LONG, new TValue().setLongValue(value));
  }

  public static TAttributes put(TAttributes to, String key, boolean value) {
    return put(to, key, TAttributeType.BOOLEAN, new TValue().setBoolValue(value));
  }

  static TAttributes put(TAttributes to, String key, double value) {
    return put(to, key, TAttributeType.DOUBLE, new TValue().setDoubleValue(value));
  }

  static TAttributes put(TAttributes to, String key, TAttributeType type, TValue value) {
    to.addToKeys(new TAttributeKey().setType(type).setValue(key));
    to.addToValues(value);
    return to;
  }
}
