package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
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
  private final BitSet incomplete = new BitSet();
  private final BitSet notNumeric = new BitSet();
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
    int ofKey = keyNumber(key);
    if (ofKey == NONE) {
      leftOut++;
      return NONE;
    }
    String joined = template(text);
    int ofTemplate = joined.equals(text) ? NONE : add(new Value(key, joined));
    int number = add(new Value(key, text));
    if (number == NONE) {
      if (ofTemplate == NONE) {
        leftOut++;
        incomplete.set(ofKey);
      }
      return ofTemplate;
    }
    templates[number] = ofTemplate == NONE ? number : ofTemplate;
    return number;
  }

  /** Returns the number of an attribute; {@link #NONE} beyond the limit. */
  int keyNumber(String key) {
    Integer known = keys.get(key);
    if (known != null || keys.size() == MAX_KEYS) {
      return known == null ? NONE : known;
    }
    keys.put(key, keys.size());
    return keys.size() - 1;
  }

  /** Notes that a span has a value of this attribute that is no number. */
  void isNotNumeric(int keyNumber) {
    notNumeric.set(keyNumber);
  }

  /** Returns whether all values of an attribute are numbers. */
  boolean isNumeric(int keyNumber) {
    return !notNumeric.get(keyNumber);
  }

  /** Returns whether each span that has the attribute has a value of it here. */
  boolean isComplete(int keyNumber) {
    return !incomplete.get(keyNumber);
  }

  /** Returns the attributes, each with its number. */
  Map<String, Integer> keys() {
    return keys;
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

  /** Counts a further value of a span that is left out. */
  void leaveOut(String key) {
    leftOut++;
    int ofKey = keyNumber(key);
    if (ofKey != NONE) {
      incomplete.set(ofKey);
      notNumeric.set(ofKey);
    }
  }

  /** Returns how often a value had no number. */
  long leftOut() {
    return leftOut;
  }
}
