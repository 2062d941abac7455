package org.traceetl.proto;

import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.Map;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The number of queues that each application should have. A record of the routing topic has all
 * decisions, so only the newest one is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TEHS} and there are at most 1,000
 * applications with names of at most 1,024 bytes. The value of an application:
 *
 * <pre>
 *  0  queues   2 bytes  1 to 1,024
 *  2  flags    1 byte   1: spread at random; other bits 0
 *  3  level    4 bytes  thousandths, 0 to 2^31 - 1; see {@link Decision#levelMilli}
 *  7  since    8 bytes  milliseconds since 1970
 * </pre>
 *
 * @param epoch rises with each decision
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param applications decisions by application; others have the default number of queues
 */
public record HotspotDecisions(long epoch, long decidedMillis, Map<String, Decision> applications)
    implements RoutingRecord {
  /** Most applications in one record. */
  public static final int MAX_APPLICATIONS = 1_000;

  /** Most bytes of an application's name. */
  public static final int MAX_NAME_BYTES = 1_024;

  /** Most queues of an application. */
  public static final int MAX_QUEUES = 1_024;

  private static final int MAGIC = 0x54454853;
  private static final int DECISION_BYTES = 15;

  /** Format of the record in the topic. */
  public static final RecordFormat<HotspotDecisions, Decision> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_APPLICATIONS,
          MAX_NAME_BYTES,
          MAX_APPLICATIONS * DECISION_BYTES,
          new DecisionFormat(),
          HotspotDecisions::new);

  /** No decision yet. */
  public static final HotspotDecisions NONE = new HotspotDecisions(0, 0, Map.of());

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
    return FORMAT.takes(application);
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, applications);
  }

  private static final class DecisionFormat implements RecordFormat.Value<Decision> {
    @Override
    public int bytes(Decision decision) {
      return DECISION_BYTES;
    }

    @Override
    public void write(ByteBuffer out, Decision decision) {
      out.putShort((short) decision.queues).put((byte) (decision.random ? 1 : 0));
      out.putInt(decision.levelMilli).putLong(decision.sinceMillis);
    }

    @Override
    public Decision read(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, DECISION_BYTES, "a decision");
      int queues = Short.toUnsignedInt(in.getShort());
      int flags = in.get();
      if ((flags & ~1) != 0) {
        throw malformed(Reason.CONTENT, "flags " + flags);
      }
      return new Decision(queues, flags == 1, in.getInt(), in.getLong());
    }
  }
}
