package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The format of the records in the routing topic. Kinds of records differ in their magic and in
 * what they say about an application. Immutable.
 *
 * <p>Layout, big-endian:
 *
 * <pre>
 *  0  magic             4 bytes  of the kind
 *  4  version           1 byte   1
 *  5  epoch             8 bytes  above 0
 * 13  decided           8 bytes  milliseconds since 1970
 * 21  applications      2 bytes  their number, then for each, in the order of the names' bytes:
 *     length            2 bytes  of the name, 1 to a limit of the kind
 *     name              UTF-8
 *     value                      as the kind has it
 *     checksum          4 bytes  CRC-32C of all bytes before
 * </pre>
 *
 * @param <R> the kind of record
 * @param <V> what it says about an application
 */
public final class RecordFormat<R extends RoutingRecord, V> {
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 21;
  private static final int CHECKSUM_BYTES = 4;

  /** Bytes of a record without applications. */
  private static final int FRAME_BYTES = HEADER_BYTES + Short.BYTES + CHECKSUM_BYTES;

  /** How far an epoch may be ahead of the reader's clock; a wrong epoch would stay valid. */
  private static final long MAX_AHEAD_MILLIS = TimeUnit.DAYS.toMillis(1);

  /** Order of names in a record. */
  static final Comparator<String> BY_BYTES =
      Comparator.comparing(name -> name.getBytes(UTF_8), Arrays::compareUnsigned);

  /** Creates a record. Throws {@link IllegalArgumentException} if it cannot exist. */
  interface Constructor<R, V> {
    R of(long epoch, long decidedMillis, Map<String, V> applications);
  }

  /** The bytes of what a record says about an application. */
  interface Value<V> {
    /** Returns how many bytes {@link #write} writes. */
    int bytes(V value);

    void write(ByteBuffer out, V value);

    /**
     * @throws IllegalArgumentException if a number is out of range
     */
    V read(ByteBuffer in) throws MalformedDecisionsException;
  }

  private final int magic;
  private final int maxApplications;
  private final int maxNameBytes;
  private final int maxBytes;
  private final Value<V> value;
  private final Constructor<R, V> constructor;

  /**
   * @param maxValueBytes of all applications together
   */
  RecordFormat(
      int magic,
      int maxApplications,
      int maxNameBytes,
      int maxValueBytes,
      Value<V> value,
      Constructor<R, V> constructor) {
    this.magic = magic;
    this.maxApplications = maxApplications;
    this.maxNameBytes = maxNameBytes;
    this.value = value;
    this.constructor = constructor;
    maxBytes = FRAME_BYTES + maxApplications * (Short.BYTES + maxNameBytes) + maxValueBytes;
  }

  /** Returns the bytes of the largest record. */
  public int maxBytes() {
    return maxBytes;
  }

  /** Returns whether a record can contain this application. */
  boolean takes(String application) {
    return isText(application, maxNameBytes);
  }

  /** Returns whether the bytes begin like a record of this kind; the rest is not checked. */
  public boolean begins(byte[] bytes) {
    return bytes.length >= Integer.BYTES && ByteBuffer.wrap(bytes).getInt() == magic;
  }

  /**
   * Reads a record of the topic, which is not trusted.
   *
   * @param nowMillis the reader's clock, milliseconds since 1970
   * @throws MalformedDecisionsException if it is not a complete and sorted record of this kind and
   *     version, or its epoch is more than a day ahead of the clock
   */
  public R decode(byte[] bytes, long nowMillis) throws MalformedDecisionsException {
    R decoded = decode(bytes);
    if (decoded.epoch() - MAX_AHEAD_MILLIS > nowMillis) {
      throw malformed(
          Reason.CONTENT,
          "epoch "
              + decoded.epoch()
              + " is more than a day ahead of this clock, "
              + nowMillis
              + "; a clock is wrong");
    }
    return decoded;
  }

  R decode(byte[] bytes) throws MalformedDecisionsException {
    if (bytes.length < FRAME_BYTES || bytes.length > maxBytes) {
      throw malformed(Reason.LENGTH, bytes.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (in.getInt() != magic) {
      throw malformed(Reason.MAGIC, "not a record of decisions");
    }
    int found = in.get();
    if (found != VERSION) {
      throw malformed(Reason.VERSION, "version " + found + ", not " + VERSION);
    }
    int end = bytes.length - CHECKSUM_BYTES;
    if (in.getInt(end) != checksum(bytes, end)) {
      throw malformed(Reason.CHECKSUM, "wrong checksum");
    }
    in.limit(end);
    long epoch = in.getLong();
    long decidedMillis = in.getLong();
    if (epoch <= 0) {
      throw malformed(Reason.CONTENT, "epoch " + epoch);
    }
    R decoded;
    try {
      decoded = constructor.of(epoch, decidedMillis, applications(in));
    } catch (IllegalArgumentException e) {
      throw malformed(Reason.CONTENT, e.getMessage());
    }
    if (in.hasRemaining()) {
      throw malformed(Reason.LENGTH, in.remaining() + " bytes too many");
    }
    return decoded;
  }

  private Map<String, V> applications(ByteBuffer in) throws MalformedDecisionsException {
    int count = count(in, 0, maxApplications, "applications");
    Map<String, V> applications = LinkedHashMap.newLinkedHashMap(count);
    String last = "";
    for (int i = 0; i < count; i++) {
      String name = text(in, maxNameBytes, "a name");
      if (BY_BYTES.compare(last, name) >= 0) {
        throw malformed(Reason.CONTENT, "names not in order");
      }
      applications.put(name, value.read(in));
      last = name;
    }
    return applications;
  }

  byte[] encode(RoutingRecord record, Map<String, V> applications) {
    List<String> names = applications.keySet().stream().sorted(BY_BYTES).toList();
    int size = FRAME_BYTES;
    for (String name : names) {
      size += textBytes(name) + value.bytes(applications.get(name));
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    out.putInt(magic).put((byte) VERSION).putLong(record.epoch()).putLong(record.decidedMillis());
    out.putShort((short) names.size());
    for (String name : names) {
      putText(out, name);
      value.write(out, applications.get(name));
    }
    out.putInt(checksum(out.array(), size - CHECKSUM_BYTES));
    return out.array();
  }

  /** Returns how many bytes {@link #putText} writes. */
  static int textBytes(String text) {
    return Short.BYTES + text.getBytes(UTF_8).length;
  }

  /** Writes a text that {@link #text} reads. */
  static void putText(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    out.putShort((short) bytes.length).put(bytes);
  }

  /** Reads a length of 2 bytes. */
  static int count(ByteBuffer in, int min, int max, String what)
      throws MalformedDecisionsException {
    need(in, Short.BYTES, what);
    int count = Short.toUnsignedInt(in.getShort());
    if (count < min || count > max) {
      throw malformed(Reason.CONTENT, count + " of " + what);
    }
    return count;
  }

  /** Reads a length of 2 bytes and a UTF-8 text of this length. */
  static String text(ByteBuffer in, int max, String what) throws MalformedDecisionsException {
    int length = in.remaining() < Short.BYTES ? 0 : Short.toUnsignedInt(in.getShort());
    if (length < 1 || length > max || in.remaining() < length) {
      throw malformed(Reason.LENGTH, what + " of " + length + " bytes");
    }
    ByteBuffer text = in.slice(in.position(), length);
    in.position(in.position() + length);
    try {
      return UTF_8.newDecoder().decode(text).toString();
    } catch (CharacterCodingException e) {
      throw malformed(Reason.CONTENT, what + " that is not UTF-8");
    }
  }

  /** Returns whether {@link #text} can read it back; a lone surrogate would change. */
  static boolean isText(String text, int max) {
    byte[] bytes = text.getBytes(UTF_8);
    return bytes.length >= 1 && bytes.length <= max && new String(bytes, UTF_8).equals(text);
  }

  static void need(ByteBuffer in, int bytes, String what) throws MalformedDecisionsException {
    if (in.remaining() < bytes) {
      throw malformed(Reason.LENGTH, "it ends within " + what);
    }
  }

  static MalformedDecisionsException malformed(Reason reason, String what) {
    return new MalformedDecisionsException(reason, what);
  }

  private static int checksum(byte[] bytes, int length) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, length);
    return (int) checksum.getValue();
  }
}
