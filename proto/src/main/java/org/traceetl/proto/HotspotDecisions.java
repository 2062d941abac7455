package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * On how many queues the servers want applications to live: one record of the routing topic, and
 * all of it, so that the newest one alone is enough. Which of two holds does not depend on where or
 * in which order they stand: see {@link #holdsOver}. Immutable.
 *
 * <p>Layout, big-endian:
 *
 * <pre>
 *  0  magic             4 bytes  "TEHS"
 *  4  version           1 byte   1
 *  5  epoch             8 bytes  above 0
 * 13  decided           8 bytes  milliseconds since 1970
 * 21  applications      2 bytes  0 to 1,000, then for each, in the order of the names' bytes:
 *       length          2 bytes  of the name, 1 to 1,024
 *       name            UTF-8
 *       queues          2 bytes  1 to 1,024
 *       flags           1 byte   1: spread at random; others 0
 *       level           4 bytes  thousandths, 0 to 2^31 - 1; see {@link Decision#levelMilli}
 *       since           8 bytes  milliseconds since 1970
 *     checksum          4 bytes  CRC-32C of all bytes before
 * </pre>
 *
 * @param epoch rises with each decision
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param applications decisions by application; the others live on as many queues as by default
 */
public record HotspotDecisions(long epoch, long decidedMillis, Map<String, Decision> applications) {
  /** No decision yet. */
  public static final HotspotDecisions NONE = new HotspotDecisions(0, 0, Map.of());

  /** Most applications in one record. */
  public static final int MAX_APPLICATIONS = 1_000;

  /** Most bytes of an application's name. */
  public static final int MAX_NAME_BYTES = 1_024;

  /** Most queues of an application. */
  public static final int MAX_QUEUES = 1_024;

  /** An epoch may be so far ahead of the reader's clock: one from a wrong clock would stay. */
  private static final long MAX_AHEAD_MILLIS = TimeUnit.DAYS.toMillis(1);

  private static final int MAGIC = 0x54454853;
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 23;
  private static final int FIXED_BYTES = 17;
  private static final int CHECKSUM_BYTES = 4;

  /** Longest record, bytes. */
  public static final int MAX_BYTES =
      HEADER_BYTES + MAX_APPLICATIONS * (FIXED_BYTES + MAX_NAME_BYTES) + CHECKSUM_BYTES;

  private static final Comparator<String> BY_BYTES =
      Comparator.comparing(name -> name.getBytes(UTF_8), Arrays::compareUnsigned);

  /**
   * One application's.
   *
   * @param queues how many queues it is to live on, 1 to {@value #MAX_QUEUES}
   * @param random whether its spans are spread at random instead of by series
   * @param levelMilli what one of its queues carried of it when it got more, thousandths of what a
   *     queue would carry if all carried the same: what whoever decides next compares its load with
   * @param sinceMillis since when it lives on so many, milliseconds since 1970
   */
  public record Decision(int queues, boolean random, int levelMilli, long sinceMillis) {
    public Decision {
      if (queues < 1 || queues > MAX_QUEUES || levelMilli < 0) {
        throw new IllegalArgumentException("queues = " + queues + ", levelMilli = " + levelMilli);
      }
    }
  }

  /**
   * @throws IllegalArgumentException if there are more applications than a record takes, or one
   *     with a name that it does not take; see {@link #takes}
   */
  public HotspotDecisions {
    applications = Map.copyOf(applications);
    if (applications.size() > MAX_APPLICATIONS
        || !applications.keySet().stream().allMatch(HotspotDecisions::takes)) {
      throw new IllegalArgumentException("too many applications, or too long a name");
    }
  }

  /** Whether a record can name this application. */
  public static boolean takes(String application) {
    byte[] bytes = application.getBytes(UTF_8);
    // A lone surrogate would come back as another name.
    return bytes.length >= 1
        && bytes.length <= MAX_NAME_BYTES
        && new String(bytes, UTF_8).equals(application);
  }

  /**
   * Whether it holds rather than the other: the one with the higher epoch, of two with the same the
   * one whose bytes as it stands in the topic are greater, compared as unsigned numbers from the
   * first on. The same for all readers, whichever they read first.
   */
  public boolean holdsOver(HotspotDecisions other) {
    return epoch != other.epoch
        ? epoch > other.epoch
        : Arrays.compareUnsigned(encode(), other.encode()) > 0;
  }

  /** As it stands in the topic. */
  public byte[] encode() {
    List<String> names = new ArrayList<>(applications.keySet());
    names.sort(BY_BYTES);
    int size = HEADER_BYTES + CHECKSUM_BYTES;
    for (String name : names) {
      size += FIXED_BYTES + name.getBytes(UTF_8).length;
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    out.putInt(MAGIC).put((byte) VERSION).putLong(epoch).putLong(decidedMillis);
    out.putShort((short) names.size());
    for (String name : names) {
      byte[] bytes = name.getBytes(UTF_8);
      Decision decision = applications.get(name);
      out.putShort((short) bytes.length).put(bytes);
      out.putShort((short) decision.queues).put((byte) (decision.random ? 1 : 0));
      out.putInt(decision.levelMilli).putLong(decision.sinceMillis);
    }
    out.putInt(checksum(out.array(), size - CHECKSUM_BYTES));
    return out.array();
  }

  /**
   * Reads what stands in the topic; it may be anything. As {@link #decode(byte[])}, and refuses
   * what would hold for ever.
   *
   * @param nowMillis the reader's clock, milliseconds since 1970
   * @throws MalformedDecisionsException also if the epoch is more than a day ahead of it
   */
  public static HotspotDecisions decode(byte[] bytes, long nowMillis)
      throws MalformedDecisionsException {
    HotspotDecisions decoded = decode(bytes);
    if (decoded.epoch - MAX_AHEAD_MILLIS > nowMillis) {
      throw malformed(
          Reason.CONTENT,
          "epoch "
              + decoded.epoch
              + " is more than a day ahead of this clock, "
              + nowMillis
              + "; a clock is wrong");
    }
    return decoded;
  }

  /**
   * Reads what stands in the topic; it may be anything.
   *
   * @throws MalformedDecisionsException if it is no record of this version, whole and in order
   */
  public static HotspotDecisions decode(byte[] bytes) throws MalformedDecisionsException {
    if (bytes.length < HEADER_BYTES + CHECKSUM_BYTES || bytes.length > MAX_BYTES) {
      throw malformed(Reason.LENGTH, bytes.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (in.getInt() != MAGIC) {
      throw malformed(Reason.MAGIC, "not a record of decisions");
    }
    int version = in.get();
    if (version != VERSION) {
      throw malformed(Reason.VERSION, "version " + version + ", not " + VERSION);
    }
    int end = bytes.length - CHECKSUM_BYTES;
    if (in.getInt(end) != checksum(bytes, end)) {
      throw malformed(Reason.CHECKSUM, "wrong checksum");
    }
    in.limit(end);
    long epoch = in.getLong();
    long decidedMillis = in.getLong();
    int count = Short.toUnsignedInt(in.getShort());
    if (epoch <= 0 || count > MAX_APPLICATIONS) {
      throw malformed(Reason.CONTENT, "epoch " + epoch + ", " + count + " applications");
    }
    Map<String, Decision> applications = LinkedHashMap.newLinkedHashMap(count);
    String last = "";
    for (int i = 0; i < count; i++) {
      String name = name(in);
      if (BY_BYTES.compare(last, name) >= 0) {
        throw malformed(Reason.CONTENT, "names not in order");
      }
      applications.put(name, decision(in));
      last = name;
    }
    if (in.hasRemaining()) {
      throw malformed(Reason.LENGTH, in.remaining() + " bytes too many");
    }
    return new HotspotDecisions(epoch, decidedMillis, applications);
  }

  private static String name(ByteBuffer in) throws MalformedDecisionsException {
    int length = in.remaining() < 2 ? 0 : Short.toUnsignedInt(in.getShort());
    if (length < 1 || length > MAX_NAME_BYTES || in.remaining() < length + FIXED_BYTES - 2) {
      throw malformed(Reason.LENGTH, "a name of " + length + " bytes");
    }
    ByteBuffer name = in.slice(in.position(), length);
    in.position(in.position() + length);
    try {
      return UTF_8.newDecoder().decode(name).toString();
    } catch (CharacterCodingException e) {
      throw malformed(Reason.CONTENT, "a name that is not UTF-8");
    }
  }

  private static Decision decision(ByteBuffer in) throws MalformedDecisionsException {
    int queues = Short.toUnsignedInt(in.getShort());
    int flags = in.get();
    int level = in.getInt();
    long sinceMillis = in.getLong();
    if (queues < 1 || queues > MAX_QUEUES || (flags & ~1) != 0 || level < 0) {
      throw malformed(Reason.CONTENT, "queues " + queues + ", flags " + flags + ", level " + level);
    }
    return new Decision(queues, flags == 1, level, sinceMillis);
  }

  private static int checksum(byte[] bytes, int length) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, length);
    return (int) checksum.getValue();
  }

  private static MalformedDecisionsException malformed(Reason reason, String what) {
    return new MalformedDecisionsException(reason, what);
  }
}
