package org.traceetl.proto;

import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The tokens of span names that vary, as the servers have learnt. A record of the routing topic
 * contains all rules, so only the newest record is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TELN} and there are at most 1,000
 * applications with names of at most 256 bytes. The value of an application:
 *
 * <pre>
 *  0  rules      2 bytes  1 to 1,000, of all applications together; then for each, in the order of
 *                         the prefixes' bytes, then of the tokens behind:
 *     length     2 bytes  of the prefix, 1 to 256
 *     prefix     UTF-8    see {@link NameRule#prefix}
 *     behind     1 byte   tokens behind the one that varies, 0 to 30
 *     values     4 bytes  1 to 2^31 - 1
 *     since      8 bytes  milliseconds since 1970
 * </pre>
 *
 * @param epoch rises with each decision
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param applications rules by application; names of other applications do not change
 */
public record LearntNames(long epoch, long decidedMillis, Map<String, NameRules> applications)
    implements RoutingRecord {
  /** Most rules in one record. */
  public static final int MAX_RULES = 1_000;

  /** Most bytes of an application's name. */
  public static final int MAX_NAME_BYTES = 256;

  private static final int MAGIC = 0x54454C4E;

  /** Bytes of a rule after its prefix. */
  private static final int RULE_BYTES = 13;

  /** Format of the record in the topic. */
  public static final RecordFormat<LearntNames, NameRules> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_RULES,
          MAX_NAME_BYTES,
          MAX_RULES * (2 * Short.BYTES + NameRule.MAX_PREFIX_BYTES + RULE_BYTES),
          new RulesFormat(),
          LearntNames::new);

  /** Nothing learnt yet. */
  public static final LearntNames NONE = new LearntNames(0, 0, Map.of());

  /**
   * @throws IllegalArgumentException if there are more rules than a record holds, or an application
   *     name that it cannot hold; see {@link #takes}
   */
  public LearntNames {
    applications = Map.copyOf(applications);
    if (rules(applications) > MAX_RULES
        || !applications.keySet().stream().allMatch(LearntNames::takes)) {
      throw new IllegalArgumentException("too many rules, or too long a name");
    }
  }

  /** Returns whether a record can contain this application. */
  public static boolean takes(String application) {
    return FORMAT.takes(application);
  }

  /** Returns the number of rules of all applications. */
  public int rules() {
    return rules(applications);
  }

  private static int rules(Map<String, NameRules> applications) {
    return applications.values().stream().mapToInt(rules -> rules.rules().size()).sum();
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, applications);
  }

  private static final class RulesFormat implements RecordFormat.Value<NameRules> {
    @Override
    public int bytes(NameRules rules) {
      return Short.BYTES
          + rules.rules().stream()
              .mapToInt(rule -> RecordFormat.textBytes(rule.prefix()) + RULE_BYTES)
              .sum();
    }

    @Override
    public void write(ByteBuffer out, NameRules rules) {
      out.putShort((short) rules.rules().size());
      for (NameRule rule : rules.rules()) {
        RecordFormat.putText(out, rule.prefix());
        out.put((byte) rule.behind()).putInt(rule.values()).putLong(rule.sinceMillis());
      }
    }

    @Override
    public NameRules read(ByteBuffer in) throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 1, MAX_RULES, "rules");
      List<NameRule> rules = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String prefix = RecordFormat.text(in, NameRule.MAX_PREFIX_BYTES, "a prefix");
        RecordFormat.need(in, RULE_BYTES, "a rule");
        rules.add(new NameRule(prefix, in.get(), in.getInt(), in.getLong()));
        if (i > 0 && rules.get(i - 1).compareTo(rules.get(i)) >= 0) {
          throw malformed(Reason.CONTENT, "rules not in order");
        }
      }
      return new NameRules(rules);
    }
  }
}
