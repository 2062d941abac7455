package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The common format of the records in the routing topic: how they begin and end, and when one is
 * refused. Immutable.
 *
 * <p>Layout, big-endian:
 *
 * <pre>
 *  0  magic             4 bytes  of the kind
 *  4  version           1 byte
 *  5  epoch             8 bytes  above 0
 * 13  decided           8 bytes  milliseconds since 1970
 * 21  body                       as the kind has it
 *     checksum          4 bytes  CRC-32C of all bytes before
 * </pre>
 */
public final class RecordFormat<R extends RoutingRecord> {
  /** Bytes around a body. */
  static final int FRAME_BYTES = 25;

  private static final int HEADER_BYTES = 21;
  private static final int CHECKSUM_BYTES = 4;

  /** How far an epoch may be ahead of the reader's clock; a wrong epoch would stay valid. */
  private static final long MAX_AHEAD_MILLIS = TimeUnit.DAYS.toMillis(1);

  /** Order of names in a record. */
  static final Comparator<String> BY_BYTES =
      Comparator.comparing(name -> name.getBytes(UTF_8), Arrays::compareUnsigned);

  /** Reads the bytes between header and checksum. */
  interface Body<R> {
    R read(long epoch, long decidedMillis, ByteBuffer in) throws MalformedDecisionsException;
  }

  private final int magic;
  private final int version;
  private final int maxBytes;
  private final Body<R> body;

  /**
   * @param maxBytes of a complete record
   */
  RecordFormat(int magic, int version, int maxBytes, Body<R> body) {
    this.magic = magic;
    this.version = version;
    this.maxBytes = maxBytes;
    this.body = body;
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
    if (found != version) {
      throw malformed(Reason.VERSION, "version " + found + ", not " + version);
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
    R decoded = body.read(epoch, decidedMillis, in);
    if (in.hasRemaining()) {
      throw malformed(Reason.LENGTH, in.remaining() + " bytes too many");
    }
    return decoded;
  }

  /**
   * Writes a record.
   *
   * @param bodyBytes exact number of bytes that the body writes
   */
  byte[] encode(RoutingRecord of, int bodyBytes, Consumer<ByteBuffer> body) {
    ByteBuffer out = ByteBuffer.allocate(FRAME_BYTES + bodyBytes);
    out.putInt(magic).put((byte) version).putLong(of.epoch()).putLong(of.decidedMillis());
    body.accept(out);
    out.putInt(checksum(out.array(), HEADER_BYTES + bodyBytes));
    return out.array();
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
