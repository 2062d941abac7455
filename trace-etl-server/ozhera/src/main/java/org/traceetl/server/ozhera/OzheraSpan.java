package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.Limits;
import org.traceetl.proto.OzheraAttributes;
import org.traceetl.proto.OzheraSpanReader;
import org.traceetl.proto.Rejection;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.NumberTexts;
import org.traceetl.server.decode.SingleSpan;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;

/**
 * One span of OzHera with its strings as texts; attributes only as far as they are needed. The
 * host's address and name, which OzHera stores beside the resource, become its attributes {@code
 * ip} and {@code hostname}: the address replaces one of the resource, because OzHera uses only that
 * one; the name is added if the resource has none. Confined to the thread of the texts.
 */
final class OzheraSpan implements SingleSpan {
  private static final byte[] SERVICE_NAME = "service.name".getBytes(US_ASCII);
  private static final byte[] IP = "ip".getBytes(US_ASCII);
  private static final byte[] HOSTNAME = "hostname".getBytes(US_ASCII);

  /** Keys that this class reads itself. */
  private static final AttributeKeys OWN_KEYS =
      new AttributeKeys(List.of("service.name", "ip", "hostname"));

  private final OzheraSpanReader reader = new OzheraSpanReader();
  private final Texts texts;
  private final NumberTexts numbers;

  /** Null if all attributes are needed. */
  private final AttributeKeys wanted;

  private int application;
  private int name;

  // Keys and values.
  private int[] attributes = new int[64];
  private int attributeInts;
  private int[] resource = new int[64];
  private int resourceInts;

  /**
   * @param wanted keys of the needed attributes; null for all
   */
  OzheraSpan(Texts texts, AttributeKeys wanted) {
    this.texts = texts;
    this.wanted = wanted == null ? null : wanted.and(OWN_KEYS);
    numbers = new NumberTexts(texts);
  }

  @Override
  public Rejection read(byte[] message, int offset, int length) {
    application = SpanColumns.NONE;
    attributeInts = 0;
    resourceInts = 0;
    texts.begin(message);
    Rejection rejection = reader.read(message, offset, length);
    if (rejection != Rejection.NONE) {
      return rejection;
    }
    name = texts.add(reader.nameOffset(), reader.nameLength());
    OzheraAttributes own = reader.attributes();
    attributes = ensured(attributes, own.count());
    attributeInts = add(own, attributes);
    OzheraAttributes common = reader.resourceAttributes();
    resource = ensured(resource, common.count() + 2);
    resourceInts = add(common, resource);
    if (reader.ipLength() > 0) {
      setResource(IP, texts.add(reader.ipOffset(), reader.ipLength()));
    }
    if (reader.hostnameLength() > 0 && resourceValue(HOSTNAME) == SpanColumns.NONE) {
      addResource(HOSTNAME, texts.add(reader.hostnameOffset(), reader.hostnameLength()));
    }
    application =
        reader.serviceNameLength() > 0
            ? texts.add(reader.serviceNameOffset(), reader.serviceNameLength())
            : resourceValue(SERVICE_NAME);
    return application == SpanColumns.NONE ? Rejection.MISSING_FIELD : Rejection.NONE;
  }

  private static int[] ensured(int[] pairs, int count) {
    return pairs.length >= 2 * count
        ? pairs
        : Arrays.copyOf(pairs, Math.min(4 * count, 2 * (Limits.MAX_ATTRIBUTES + 2)));
  }

  /** Adds the texts of the needed attributes that have values; returns the end position. */
  private int add(OzheraAttributes from, int[] pairs) {
    int at = 0;
    for (int i = 0; i < from.count(); i++) {
      int type = from.type(i);
      if (type != OzheraAttributes.NO_VALUE && isWanted(from.keyOffset(i), from.keyLength(i))) {
        pairs[at++] = texts.add(from.keyOffset(i), from.keyLength(i));
        pairs[at++] =
            switch (type) {
              case OzheraAttributes.TEXT -> texts.add(from.textOffset(i), from.textLength(i));
              case OzheraAttributes.BOOLEAN -> numbers.add(from.booleanValue(i));
              case OzheraAttributes.LONG -> numbers.add(from.longValue(i));
              default -> numbers.add(from.doubleValue(i));
            };
      }
    }
    return at;
  }

  private boolean isWanted(int key, int length) {
    return wanted == null || wanted.find(reader.buffer(), key, length) != AttributeKeys.NONE;
  }

  private void setResource(byte[] key, int value) {
    boolean there = false;
    for (int i = 0; i < resourceInts; i += 2) {
      if (isText(resource[i], key)) {
        resource[i + 1] = value;
        there = true;
      }
    }
    if (!there) {
      addResource(key, value);
    }
  }

  private void addResource(byte[] key, int value) {
    resource[resourceInts++] = texts.make(key, 0, key.length);
    resource[resourceInts++] = value;
  }

  /** Returns the first value that is not empty, or {@link SpanColumns#NONE}. */
  private int resourceValue(byte[] key) {
    for (int i = 0; i < resourceInts; i += 2) {
      if (texts.length(resource[i + 1]) > 0 && isText(resource[i], key)) {
        return resource[i + 1];
      }
    }
    return SpanColumns.NONE;
  }

  private boolean isText(int text, byte[] key) {
    int offset = texts.offset(text);
    return Arrays.equals(
        texts.buffer(text), offset, offset + texts.length(text), key, 0, key.length);
  }

  @Override
  public int application() {
    return application;
  }

  @Override
  public int name() {
    return name;
  }

  @Override
  public long traceIdHigh() {
    return reader.traceIdHigh();
  }

  @Override
  public long traceIdLow() {
    return reader.traceIdLow();
  }

  @Override
  public long spanId() {
    return reader.spanId();
  }

  @Override
  public long startUnixNanos() {
    return reader.startUnixNanos();
  }

  @Override
  public long durationNanos() {
    return reader.durationNanos();
  }

  @Override
  public int kind() {
    return reader.kind();
  }

  @Override
  public int status() {
    return reader.status();
  }

  @Override
  public int[] attributes() {
    return attributes;
  }

  @Override
  public int attributeCount() {
    return attributeInts / 2;
  }

  @Override
  public int[] resource() {
    return resource;
  }

  @Override
  public int resourceAttributeCount() {
    return resourceInts / 2;
  }
}
