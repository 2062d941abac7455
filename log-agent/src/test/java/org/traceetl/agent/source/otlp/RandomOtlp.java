package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Writes random requests, most of them as exporters do, some with fields that are repeated,
 * unknown, in another order, of another type, or damaged. Equal seeds give equal fields.
 */
final class RandomOtlp {
  private static final String[] KEYS = {
    "",
    "a",
    "id",
    "http.route",
    "http.routes",
    "http.request.method",
    "http.response.status_code",
    "http.response.status_codf",
    "url.path",
    "caf\u00e9",
    "k".repeat(61),
    "k".repeat(127)
  };

  private final Random random;
  // Whether the fields of spans have tags of two bytes, which only the general code reads.
  private final boolean longTags;
  // Whether values may be damaged, so that reading and skipping them differ.
  private final boolean damagedValues;

  RandomOtlp(long seed, boolean longTags, boolean damagedValues) {
    random = new Random(seed);
    this.longTags = longTags;
    this.damagedValues = damagedValues;
  }

  /** Returns keys of attributes. */
  static List<byte[]> keys(Random random) {
    List<byte[]> keys = new ArrayList<>();
    for (String key : KEYS) {
      if (random.nextInt(3) == 0) {
        keys.add(key.getBytes(UTF_8));
      }
    }
    return keys;
  }

  byte[] request() {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    for (int resources = random.nextInt(3); resources >= 0; resources--) {
      ByteArrayOutputStream scope = new ByteArrayOutputStream();
      for (int spans = random.nextInt(5); spans >= 0; spans--) {
        bytes(scope, 2, span(), false);
      }
      ByteArrayOutputStream resource = new ByteArrayOutputStream();
      bytes(resource, 2, scope.toByteArray(), false);
      bytes(request, 1, resource.toByteArray(), false);
    }
    return request.toByteArray();
  }

  private byte[] span() {
    List<byte[]> fields = new ArrayList<>();
    id(fields, 1, 16);
    id(fields, 2, 8);
    if (random.nextInt(4) > 0) {
      id(fields, 4, 8);
    }
    fields.add(field(5, text(random.nextInt(40))));
    fields.add(number(6, random.nextInt(8) == 0 ? random.nextLong() : random.nextInt(7)));
    fields.add(fixed(7, random.nextInt(20) == 0 ? -1 : 1_790_000_000L + random.nextInt()));
    fields.add(fixed(8, random.nextInt(20) == 0 ? -1 : 1_790_000_000L + random.nextInt()));
    int attributes = random.nextInt(30) == 0 ? 140 : random.nextInt(12);
    for (int i = 0; i < attributes; i++) {
      fields.add(field(9, attribute()));
    }
    if (random.nextBoolean()) {
      ByteArrayOutputStream status = new ByteArrayOutputStream();
      bytes(status, 2, text(random.nextInt(20)), false);
      varint(status, 3 << 3);
      varint(status, random.nextInt(4));
      fields.add(field(15, status.toByteArray()));
    }
    if (random.nextInt(4) == 0) {
      disturb(fields);
    }
    ByteArrayOutputStream span = new ByteArrayOutputStream();
    fields.forEach(span::writeBytes);
    return span.toByteArray();
  }

  private void disturb(List<byte[]> fields) {
    switch (random.nextInt(6)) {
      case 0 -> Collections.shuffle(fields, random);
      case 1 ->
          fields.add(random.nextInt(fields.size()), fields.get(random.nextInt(fields.size())));
      case 2 -> fields.remove(random.nextInt(fields.size()));
      case 3 -> fields.add(random.nextInt(fields.size()), number(17, random.nextLong()));
      case 4 -> fields.add(random.nextInt(fields.size()), number(random.nextInt(1, 20), 8));
      default -> fields.add(random(random.nextInt(1, 4)));
    }
  }

  private void id(List<byte[]> fields, int number, int length) {
    fields.add(field(number, random(random.nextInt(20) == 0 ? random.nextInt(20) : length)));
  }

  private byte[] attribute() {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    switch (random.nextInt(8)) {
      case 0 -> {}
      case 1, 2 -> {
        varint(value, 3 << 3);
        varint(value, random.nextLong() >>> random.nextInt(64));
      }
      case 3 -> value.writeBytes(fixed(4, Double.doubleToLongBits(random.nextInt() / 8.0)));
      default -> bytes(value, 1, text(random.nextInt(20) == 0 ? 200 : random.nextInt(60)), false);
    }
    ByteArrayOutputStream attribute = new ByteArrayOutputStream();
    bytes(attribute, 1, KEYS[random.nextInt(KEYS.length)].getBytes(UTF_8), false);
    bytes(attribute, 2, value.toByteArray(), false);
    if (random.nextInt(20) == 0) {
      // The last key counts.
      bytes(attribute, 1, KEYS[random.nextInt(KEYS.length)].getBytes(UTF_8), false);
    }
    byte[] bytes = attribute.toByteArray();
    if (damagedValues && random.nextInt(10) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  private byte[] text(int length) {
    byte[] text = new byte[length];
    for (int i = 0; i < length; i++) {
      text[i] = (byte) random.nextInt(' ', 127);
    }
    if (length > 0 && random.nextInt(10) == 0) {
      text[random.nextInt(length)] = (byte) random.nextInt();
    }
    return text;
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private byte[] field(int number, byte[] content) {
    ByteArrayOutputStream field = new ByteArrayOutputStream();
    bytes(field, number, content, longTags);
    return field.toByteArray();
  }

  private byte[] number(int number, long value) {
    ByteArrayOutputStream field = new ByteArrayOutputStream();
    tag(field, number << 3, longTags);
    varint(field, value);
    return field.toByteArray();
  }

  private byte[] fixed(int number, long value) {
    ByteArrayOutputStream field = new ByteArrayOutputStream();
    // Doubles are fields of values, not of spans.
    tag(field, number << 3 | 1, longTags && number != 4);
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      field.write((int) (value >>> shift));
    }
    return field.toByteArray();
  }

  private static void bytes(
      ByteArrayOutputStream out, int number, byte[] content, boolean longTag) {
    tag(out, number << 3 | 2, longTag);
    varint(out, content.length);
    out.writeBytes(content);
  }

  private static void tag(ByteArrayOutputStream out, int tag, boolean isLong) {
    if (isLong && tag < 0x80) {
      out.write(tag | 0x80);
      out.write(0);
    } else {
      varint(out, tag);
    }
  }

  private static void varint(ByteArrayOutputStream out, long value) {
    long rest = value;
    for (; (rest & ~0x7fL) != 0; rest >>>= 7) {
      out.write((int) (rest | 0x80));
    }
    out.write((int) rest);
  }
}
