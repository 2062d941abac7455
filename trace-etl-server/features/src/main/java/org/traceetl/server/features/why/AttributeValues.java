package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.NameTemplate;

/**
 * A number for each value of an attribute, in the order of their first occurrence. Each value has a
 * template without identifiers, as names of spans have, which is a value of the same attribute.
 * Bounded: beyond the limits a value is its template if that has a number, else it is left out. One
 * owner thread.
 */
final class AttributeValues {
  static final int NONE = -1;

  /** Of distinct attributes. */
  static final int MAX_KEYS = 256;

  /** Of distinct values of all attributes; each takes up to some hundred bytes. */
  static final int MAX_VALUES = 200_000;

  private final NameTemplate template = new NameTemplate();
  private final Map<String, Integer> keys = new HashMap<>();
  private final Map<Value, Integer> numbers = new HashMap<>();
  private final List<Value> values = new ArrayList<>();
  private int[] templates = new int[1024];
  private long leftOut;

  /** A value of an attribute, which has a number too. */
  private record Value(String key, String text) {}

  /**
   * Returns the number of an attribute's value.
   *
   * @return {@link #NONE} beyond the limits
   */
  int number(String key, String text) {
    Integer known = numbers.get(new Value(key, text));
    if (known != null) {
      return known;
    }
    if (keys.putIfAbsent(key, keys.size()) == null && keys.size() > MAX_KEYS) {
      keys.remove(key);
      leftOut++;
      return NONE;
    }
    String joined = template(text);
    int ofTemplate = joined.equals(text) ? NONE : add(new Value(key, joined));
    int number = add(new Value(key, text));
    if (number == NONE) {
      leftOut += ofTemplate == NONE ? 1 : 0;
      return ofTemplate;
    }
    templates[number] = ofTemplate == NONE ? number : ofTemplate;
    return number;
  }

  private int add(Value value) {
    Integer known = numbers.get(value);
    if (known != null) {
      return known;
    }
    if (values.size() >= MAX_VALUES) {
      return NONE;
    }
    int number = values.size();
    values.add(value);
    numbers.put(value, number);
    if (number == templates.length) {
      templates = Arrays.copyOf(templates, 2 * number);
    }
    templates[number] = number;
    return number;
  }

  private String template(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    int length = template.write(bytes, 0, bytes.length);
    return length == NameTemplate.UNCHANGED
        ? text
        : new String(template.buffer(), 0, length, UTF_8);
  }

  int size() {
    return values.size();
  }

  String key(int number) {
    return values.get(number).key;
  }

  String text(int number) {
    return values.get(number).text;
  }

  /** Returns the value without identifiers; itself if it has none. */
  int template(int number) {
    return templates[number];
  }

  /** Counts further values that are left out. */
  void leaveOut(int more) {
    leftOut += more;
  }

  /** Returns how often a value had no number. */
  long leftOut() {
    return leftOut;
  }
}
