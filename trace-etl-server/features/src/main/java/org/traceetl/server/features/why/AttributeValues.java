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

  /**
   * Slots that a look takes at most. Senders may choose texts with equal hashes; further ones are
   * beyond the limits.
   */
  private static final int MAX_PROBES = 256;

  private final NameTemplate template = new NameTemplate();
  private final Map<String, Integer> keys = new HashMap<>();
  private final List<String> keyNames = new ArrayList<>();

  // By number
  private final List<String> texts = new ArrayList<>();
  private int[] keyOf = new int[1024];
  private int[] templates = new int[1024];

  /** Numbers of values plus 1, by hash with linear probing; 0 is empty. At most half full. */
  private int[] table = new int[4096];

  private final BitSet incomplete = new BitSet();
  private final BitSet notNumeric = new BitSet();
  private long leftOut;

  /**
   * Returns the number of an attribute's value.
   *
   * @param ofKey number of the attribute, or {@link #NONE}
   * @return {@link #NONE} beyond the limits
   */
  int number(int ofKey, String text) {
    if (ofKey == NONE) {
      leftOut++;
      return NONE;
    }
    int slot = slot(ofKey, text, MAX_PROBES);
    if (slot != NONE && table[slot] != 0) {
      return table[slot] - 1;
    }
    String joined = template(text);
    int ofTemplate = joined.equals(text) ? NONE : add(ofKey, joined);
    int number = add(ofKey, text);
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
    keyNames.add(key);
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

  private int add(int ofKey, String text) {
    int slot = slot(ofKey, text, MAX_PROBES);
    if (slot != NONE && table[slot] != 0) {
      return table[slot] - 1;
    }
    int number = texts.size();
    if (slot == NONE || number >= MAX_VALUES) {
      return NONE;
    }
    texts.add(text);
    if (number == templates.length) {
      templates = Arrays.copyOf(templates, 2 * number);
      keyOf = Arrays.copyOf(keyOf, 2 * number);
    }
    keyOf[number] = ofKey;
    templates[number] = number;
    table[slot] = number + 1;
    if (2 * texts.size() > table.length) {
      rehash();
    }
    return number;
  }

  private void rehash() {
    table = new int[2 * table.length];
    for (int number = 0; number < texts.size(); number++) {
      table[slot(keyOf[number], texts.get(number), table.length)] = number + 1;
    }
  }

  /**
   * Returns the slot of a value, or the empty one that it takes; {@link #NONE} if these many slots
   * have other values.
   */
  private int slot(int ofKey, String text, int probes) {
    // Texts keep their hash. Numbers as text have hashes close together, hence the multiplication.
    int hash = (31 * ofKey + text.hashCode()) * 0x9E37_79B9;
    int mask = table.length - 1;
    int at = hash >>> Integer.numberOfLeadingZeros(mask);
    for (int i = 0; i < probes; i++) {
      int number = table[at] - 1;
      if (number == NONE || keyOf[number] == ofKey && texts.get(number).equals(text)) {
        return at;
      }
      at = at + 1 & mask;
    }
    return NONE;
  }

  private String template(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    int length = template.write(bytes, 0, bytes.length);
    return length == NameTemplate.UNCHANGED
        ? text
        : new String(template.buffer(), 0, length, UTF_8);
  }

  int size() {
    return texts.size();
  }

  String key(int number) {
    return keyNames.get(keyOf[number]);
  }

  /** Returns the number of a value's attribute. */
  int keyOf(int number) {
    return keyOf[number];
  }

  String text(int number) {
    return texts.get(number);
  }

  /** Returns the value without identifiers; itself if it has none. */
  int template(int number) {
    return templates[number];
  }

  /** Counts a further value of a span that is left out. */
  void leaveOut(int ofKey) {
    leftOut++;
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
