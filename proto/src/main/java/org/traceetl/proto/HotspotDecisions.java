package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.proto.RecordFormat.BY_BYTES;
import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The number of queues that each application should have. A record of the routing topic has all
 * decisions, so only the newest one is needed. Immutable.
 *
 * <p>The body, in the frame of {@link RecordFormat}; the magic is {@code TEHS}, the version 1:
 *
 * <pre>
 *       applications    2 bytes  0 to 1,000, then for each, in the order of the names' bytes:
 *       length          2 bytes  of the name, 1 to 1,024
 *       name            UTF-8
 *       queues          2 bytes  1 to 1,024
 *       flags           1 byte   1: spread at random; other bits 0
 *       level           4 bytes  thousandths, 0 to 2^31 - 1; see {@link Decision#levelMilli}
 *       since           8 bytes  milliseconds since 1970
 * </pre>
 *
 * @param epoch rises with each decision
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param applications decisions by application; others have the default number of queues
 */
public record HotspotDecisions(long epoch, long decidedMillis, Map<String, Decision> applications)
    implements RoutingRecord {
  /** No decision yet. */
  public static final HotspotDecisions NONE = new HotspotDecisions(0, 0, Map.of());

  /** Most applications in one record. */
  public static final int MAX_APPLICATIONS = 1_000;

  /** Most bytes of an application's name. */
  public static final int MAX_NAME_BYTES = 1_024;

  /** Most queues of an application. */
  public static final int MAX_QUEUES = 1_024;

  private static final int MAGIC = 0x54454853;
  private static final int COUNT_BYTES = 2;
  private static final int FIXED_BYTES = 17;

  /** Largest record, bytes. */
  public static final int MAX_BYTES =
      RecordFormat.FRAME_BYTES + COUNT_BYTES + MAX_APPLICATIONS * (FIXED_BYTES + MAX_NAME_BYTES);

  /** Format of the record in the topic. */
  public static final RecordFormat<HotspotDecisions> FORMAT =
      new RecordFormat<>(MAGIC, 1, MAX_BYTES, HotspotDecisions::read);

  /**
   * The decision for an application.
   *
   * @param queues number of queues, 1 to {@value #MAX_QUEUES}
   * @param random whether spans are spread at random instead of by series
   * @param levelMilli load of one of its queues at the last increase, in thousandths of a queue's
   *     share if all carried the same; the next decision compares the load with it
   * @param sinceMillis when it got this number of queues, milliseconds since 1970
   */
  public record Decision(int queues, boolean random, int levelMilli, long sinceMillis) {
    public Decision {
      if (queues < 1 || queues > MAX_QUEUES || levelMilli < 0) {
        throw new IllegalArgumentException("queues = " + queues + ", levelMilli = " + levelMilli);
      }
    }
  }

  /**
   * @throws IllegalArgumentException if there are more applications than a record holds, or a name
   *     that it cannot hold; see {@link #takes}
   */
  public HotspotDecisions {
    applications = Map.copyOf(applications);
    if (applications.size() > MAX_APPLICATIONS
        || !applications.keySet().stream().allMatch(HotspotDecisions::takes)) {
      throw new IllegalArgumentException("too many applications, or too long a name");
    }
  }

  /** Returns whether a record can contain this application. */
  public static boolean takes(String application) {
    return RecordFormat.isText(application, MAX_NAME_BYTES);
  }

  @Override
  public byte[] encode() {
    List<String> names = new ArrayList<>(applications.keySet());
    names.sort(BY_BYTES);
    int size = COUNT_BYTES;
    for (String name : names) {
      size += FIXED_BYTES + name.getBytes(UTF_8).length;
    }
    return FORMAT.encode(
        this,
        size,
        out -> {
          out.putShort((short) names.size());
          for (String name : names) {
            byte[] bytes = name.getBytes(UTF_8);
            Decision decision = applications.get(name);
            out.putShort((short) bytes.length).put(bytes);
            out.putShort((short) decision.queues).put((byte) (decision.random ? 1 : 0));
            out.putInt(decision.levelMilli).putLong(decision.sinceMillis);
          }
        });
  }

  private static HotspotDecisions read(long epoch, long decidedMillis, ByteBuffer in)
      throws MalformedDecisionsException {
    int count = RecordFormat.count(in, 0, MAX_APPLICATIONS, "applications");
    Map<String, Decision> applications = LinkedHashMap.newLinkedHashMap(count);
    String last = "";
    for (int i = 0; i < count; i++) {
      String name = RecordFormat.text(in, MAX_NAME_BYTES, "a name");
      RecordFormat.need(in, FIXED_BYTES - Short.BYTES, "a decision");
      if (BY_BYTES.compare(last, name) >= 0) {
        throw malformed(Reason.CONTENT, "names not in order");
      }
      applications.put(name, decision(in));
      last = name;
    }
    return new HotspotDecisions(epoch, decidedMillis, applications);
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
}
