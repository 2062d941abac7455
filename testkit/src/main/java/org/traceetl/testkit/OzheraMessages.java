package org.traceetl.testkit;

import java.util.ArrayList;
import java.util.List;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TValue;

/** Builds spans as OzHera's agents write them: one per message. */
public final class OzheraMessages {
  private OzheraMessages() {}

  /** Returns attributes of alternating keys and values; see {@link #put}. */
  public static TAttributes attributes(Object... keysAndValues) {
    TAttributes attributes =
        new TAttributes().setKeys(new ArrayList<>()).setValues(new ArrayList<>());
    for (int i = 0; i < keysAndValues.length; i += 2) {
      put(attributes, (String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return attributes;
  }

  /**
   * Adds an attribute.
   *
   * @param value a text, a whole number, a double, a boolean or a list of texts; null: a text
   *     without a value
   */
  public static TAttributes put(TAttributes to, String key, Object value) {
    TValue one = new TValue();
    TAttributeType type =
        switch (value) {
          case null -> TAttributeType.STRING;
          case String text -> {
            one.setStringValue(text);
            yield TAttributeType.STRING;
          }
          case Boolean flag -> {
            one.setBoolValue(flag);
            yield TAttributeType.BOOLEAN;
          }
          case Double number -> {
            one.setDoubleValue(number);
            yield TAttributeType.DOUBLE;
          }
          case Number number -> {
            one.setLongValue(number.longValue());
            yield TAttributeType.LONG;
          }
          case List<?> texts -> {
            one.setStringArrayValue(texts.stream().map(String.class::cast).toList());
            yield TAttributeType.STRING_ARRAY;
          }
          default -> throw new IllegalArgumentException(key + " = " + value);
        };
    to.addToKeys(new TAttributeKey().setType(type).setValue(key));
    to.addToValues(one);
    return to;
  }

  /** Returns the message of a span. */
  public static byte[] of(TSpanData span) {
    try {
      return new TSerializer(new TCompactProtocol.Factory()).serialize(span);
    } catch (TException e) {
      throw new IllegalStateException(e);
    }
  }
}
