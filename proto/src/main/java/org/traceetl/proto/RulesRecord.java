package org.traceetl.proto;

import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The rules of applications that servers apply while they run: from which duration spans are slow.
 * Agents do not read them, because the demand contains the result. A record of the routing topic
 * has all rules, so only the newest one is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TERU}, the epoch is the revision of
 * the rules, and the names are patterns of at most {@value #MAX_RULES} rules, of at most {@value
 * Demand#MAX_TEXT_BYTES} bytes. The value of a pattern:
 *
 * <pre>
 *  0  place          2 bytes  of the rule among all rules, from 0; each place once
 *  2  slower than    8 bytes  nanoseconds, 0 to 365 days; -1: absent
 * 10  thresholds     2 bytes  at most 128 of all rules together; 65,535: absent; then for each
 *     application    text     pattern: its length (2 bytes, 1 to 256), then UTF-8
 *     kinds          1 byte   bit k: kind k, 0 to 5; 0: all kinds
 *     threshold      8 bytes  nanoseconds, 0 to 365 days
 * </pre>
 *
 * @param epoch revision of the rules
 * @param decidedMillis when a server published them, milliseconds since 1970
 * @param applications rules by the pattern of their applications; the matching rule with the lowest
 *     place applies
 */
public record RulesRecord(long epoch, long decidedMillis, Map<String, Rule> applications)
    implements RoutingRecord {
  /** Most rules in one record. */
  public static final int MAX_RULES = 128;

  /** Most thresholds of all rules. */
  public static final int MAX_THRESHOLDS = 128;

  /** Highest threshold. */
  public static final long MAX_NANOS = TimeUnit.DAYS.toNanos(365);

  private static final int MAGIC = 0x54455255;
  private static final int ABSENT = -1;
  private static final int ABSENT_LIST = 0xffff;
  private static final int FIXED_BYTES = Short.BYTES + Long.BYTES;

  /** Bytes of a threshold after its pattern. */
  private static final int THRESHOLD_BYTES = 1 + Long.BYTES;

  /** Format of the record in the topic. */
  public static final RecordFormat<RulesRecord, Rule> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_RULES,
          Demand.MAX_TEXT_BYTES,
          MAX_RULES * (FIXED_BYTES + Short.BYTES)
              + MAX_THRESHOLDS * (Short.BYTES + Demand.MAX_TEXT_BYTES + THRESHOLD_BYTES),
          new RuleFormat(),
          RulesRecord::new);

  /** No rules published yet. */
  public static final RulesRecord NONE = new RulesRecord(0, 0, Map.of());

  /**
   * The rule of some applications.
   *
   * @param place of the rule among all rules, 0 to {@value RulesRecord#MAX_RULES} - 1
   * @param slowerThanNanos a span of at least this duration is slow; null if each server's
   *     configuration applies
   * @param thresholds exceptions, of which the first that matches applies; null if those of each
   *     server's configuration apply
   */
  public record Rule(int place, Long slowerThanNanos, List<SlowRule> thresholds) {
    /**
     * @throws IllegalArgumentException if a number is out of range
     */
    public Rule {
      thresholds = thresholds == null ? null : List.copyOf(thresholds);
      boolean inRange =
          (slowerThanNanos == null || isThreshold(slowerThanNanos))
              && (thresholds == null
                  || thresholds.size() <= MAX_THRESHOLDS
                      && thresholds.stream().allMatch(each -> isThreshold(each.nanos())));
      if (place < 0 || place >= MAX_RULES || !inRange) {
        throw new IllegalArgumentException("a rule at " + place + ", or a threshold out of range");
      }
    }

    private static boolean isThreshold(long nanos) {
      return nanos >= 0 && nanos <= MAX_NANOS;
    }
  }

  /**
   * @throws IllegalArgumentException if there are more rules or thresholds than a record holds, a
   *     pattern that it cannot hold, or two rules at one place
   */
  public RulesRecord {
    applications = Map.copyOf(applications);
    int rules = applications.size();
    int thresholds =
        applications.values().stream()
            .mapToInt(rule -> rule.thresholds == null ? 0 : rule.thresholds.size())
            .sum();
    long places =
        applications.values().stream()
            .mapToInt(Rule::place)
            .filter(place -> place < rules)
            .distinct()
            .count();
    if (rules > MAX_RULES
        || thresholds > MAX_THRESHOLDS
        || places != rules
        || !applications.keySet().stream().allMatch(Demand::takesText)) {
      throw new IllegalArgumentException(
          rules + " rules with " + thresholds + " thresholds, a wrong place or too long a pattern");
    }
  }

  /** Returns whether the other record has the same revision of the same rules. */
  public boolean sameContent(RulesRecord other) {
    return epoch == other.epoch && applications.equals(other.applications);
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, applications);
  }

  private static final class RuleFormat implements RecordFormat.Value<Rule> {
    @Override
    public int bytes(Rule rule) {
      int bytes = FIXED_BYTES + Short.BYTES;
      if (rule.thresholds != null) {
        for (SlowRule threshold : rule.thresholds) {
          bytes += RecordFormat.textBytes(threshold.application()) + THRESHOLD_BYTES;
        }
      }
      return bytes;
    }

    @Override
    public void write(ByteBuffer out, Rule rule) {
      out.putShort((short) rule.place);
      out.putLong(rule.slowerThanNanos == null ? ABSENT : rule.slowerThanNanos);
      if (rule.thresholds == null) {
        out.putShort((short) ABSENT_LIST);
        return;
      }
      out.putShort((short) rule.thresholds.size());
      for (SlowRule threshold : rule.thresholds) {
        RecordFormat.putText(out, threshold.application());
        out.put((byte) threshold.kinds()).putLong(threshold.nanos());
      }
    }

    @Override
    public Rule read(ByteBuffer in) throws MalformedDecisionsException {
      int place = RecordFormat.count(in, 0, MAX_RULES - 1, "a place");
      RecordFormat.need(in, Long.BYTES, "a rule");
      long slowerThanNanos = in.getLong();
      return new Rule(
          place, slowerThanNanos == ABSENT ? null : (Long) slowerThanNanos, thresholds(in));
    }

    /** Returns null if they are absent. */
    private static List<SlowRule> thresholds(ByteBuffer in) throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 0, ABSENT_LIST, "thresholds");
      if (count == ABSENT_LIST) {
        return null;
      }
      if (count > MAX_THRESHOLDS) {
        throw malformed(Reason.CONTENT, count + " thresholds");
      }
      List<SlowRule> thresholds = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String application = RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a pattern");
        RecordFormat.need(in, THRESHOLD_BYTES, "a threshold");
        thresholds.add(new SlowRule(application, Byte.toUnsignedInt(in.get()), in.getLong()));
      }
      return thresholds;
    }
  }
}
