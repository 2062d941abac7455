package org.traceetl.exporter.ring;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Cuts values at the limit of their length, as the SDK does. */
public final class Shortening {
  private Shortening() {}

  /** Returns at most {@code maxCount} attributes with values of at most {@code maxLength}. */
  public static Attributes of(Attributes attributes, int maxCount, int maxLength) {
    if (attributes.size() <= maxCount && maxLength == Integer.MAX_VALUE) {
      return attributes;
    }
    AttributesBuilder builder = Attributes.builder();
    int[] kept = {0};
    attributes.forEach((key, value) -> {
      if (kept[0]++ < maxCount) {
        put(builder, key, of(value, maxLength));
      }
    });
    return builder.build();
  }

  @SuppressWarnings("unchecked") // shortening does not change a value's type
  private static void put(AttributesBuilder builder, AttributeKey<?> key, Object value) {
    builder.put((AttributeKey<Object>) key, value);
  }

  /** Returns the value with texts and bytes of at most {@code maxLength}. */
  static Object of(Object value, int maxLength) {
    if (value instanceof String) {
      return text((String) value, maxLength);
    }
    if (value instanceof List) {
      List<Object> shortened = new ArrayList<>(((List<?>) value).size());
      for (Object element : (List<?>) value) {
        shortened.add(of(element, maxLength));
      }
      return shortened;
    }
    return value instanceof Value ? of((Value<?>) value, maxLength) : value;
  }

  private static String text(String text, int maxLength) {
    return text.length() <= maxLength ? text : text.substring(0, maxLength);
  }

  @SuppressWarnings("unchecked") // by the type of a value
  private static Value<?> of(Value<?> value, int maxLength) {
    switch (value.getType()) {
      case STRING:
        return Value.of(text((String) value.getValue(), maxLength));
      case BYTES:
        ByteBuffer bytes = (ByteBuffer) value.getValue();
        if (bytes.remaining() <= maxLength) {
          return value;
        }
        byte[] first = new byte[maxLength];
        bytes.get(first);
        return Value.of(first);
      case ARRAY:
        List<Value<?>> elements = new ArrayList<>();
        for (Value<?> element : (List<Value<?>>) value.getValue()) {
          elements.add(of(element, maxLength));
        }
        return Value.of(elements);
      case KEY_VALUE_LIST:
        List<KeyValue> entries = new ArrayList<>();
        for (KeyValue entry : (List<KeyValue>) value.getValue()) {
          entries.add(KeyValue.of(entry.getKey(), of(entry.getValue(), maxLength)));
        }
        return Value.of(entries.toArray(new KeyValue[0]));
      default:
        return value;
    }
  }
}
