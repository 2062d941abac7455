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
 * The tokens of span names that vary, as the servers have learnt. A record of the routing topic
 * contains all rules, so only the newest record is needed. Immutable.
 *
 * <p>The body, in the frame of {@link RecordFormat}; the magic is {@code TELN}, the version 1:
 *
 * <pre>
 *       applications    2 bytes  0 to 1,000, then for each, in the order of the names' bytes:
 *       length          2 bytes  of the name, 1 to 256
 *       name            UTF-8
 *       rules           2 bytes  1 to 1,000, of all applications together; then for each, in the
 *                                order of the prefixes' bytes, then of the tokens behind:
 *         length        2 bytes  of the prefix, 1 to 256
 *         prefix        UTF-8    see {@link NameRule#prefix}
 *         behind        1 byte   tokens behind the one that varies, 0 to 30
 *         values        4 bytes  1 to 2^31 - 1
 *         since         8 bytes  milliseconds since 1970
 * </pre>
 *
 * @param epoch rises with each decision
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param applications rules by application; names of other applications do not change
 */
public record LearntNames(long epoch, long decidedMillis, Map<String, NameRules> applications)
    implements RoutingRecord {
  /** Nothing learnt yet. */
  public static final LearntNames NONE = new LearntNames(0, 0, Map.of());

  /** Most rules in one record. */
  public static final int MAX_RULES = 1_000;

  /** Most bytes of an application's name. */
  public static final int MAX_NAME_BYTES = 256;

  private static final int MAGIC = 0x54454C4E;
  private static final int COUNT_BYTES = 2;
  private static final int APPLICATION_BYTES = 4;
  private static final int RULE_BYTES = 15;

  /** Largest record, bytes. */
  public static final int MAX_BYTES =
      RecordFormat.FRAME_BYTES
          + COUNT_BYTES
          + MAX_RULES
              * (APPLICATION_BYTES + MAX_NAME_BYTES + RULE_BYTES + NameRule.MAX_PREFIX_BYTES);

  /** Format of the record in the topic. */
  public static final RecordFormat<LearntNames> FORMAT =
      new RecordFormat<>(MAGIC, 1, MAX_BYTES, LearntNames::read);

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
    return RecordFormat.isText(application, MAX_NAME_BYTES);
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
    List<String> names = new ArrayList<>(applications.keySet());
    names.sort(BY_BYTES);
    int size = COUNT_BYTES;
    for (String name : names) {
      size += APPLICATION_BYTES + name.getBytes(UTF_8).length;
      for (NameRule rule : applications.get(name).rules()) {
        size += RULE_BYTES + rule.prefix().getBytes(UTF_8).length;
      }
    }
    return FORMAT.encode(
        this,
        size,
        out -> {
          out.putShort((short) names.size());
          for (String name : names) {
            putText(out, name);
            List<NameRule> rules = applications.get(name).rules();
            out.putShort((short) rules.size());
            for (NameRule rule : rules) {
              putText(out, rule.prefix());
              out.put((byte) rule.behind()).putInt(rule.values()).putLong(rule.sinceMillis());
            }
          }
        });
  }

  private static void putText(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    out.putShort((short) bytes.length).put(bytes);
  }

  private static LearntNames read(long epoch, long decidedMillis, ByteBuffer in)
      throws MalformedDecisionsException {
    int count = RecordFormat.count(in, 0, MAX_RULES, "applications");
    Map<String, NameRules> applications = LinkedHashMap.newLinkedHashMap(count);
    int room = MAX_RULES;
    String last = "";
    for (int i = 0; i < count; i++) {
      String name = RecordFormat.text(in, MAX_NAME_BYTES, "a name");
      if (BY_BYTES.compare(last, name) >= 0) {
        throw malformed(Reason.CONTENT, "names not in order");
      }
      last = name;
      List<NameRule> rules = readRules(in, room);
      room -= rules.size();
      applications.put(name, new NameRules(rules));
    }
    return new LearntNames(epoch, decidedMillis, applications);
  }

  private static List<NameRule> readRules(ByteBuffer in, int room)
      throws MalformedDecisionsException {
    int count = RecordFormat.count(in, 1, room, "rules");
    List<NameRule> rules = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String prefix = RecordFormat.text(in, NameRule.MAX_PREFIX_BYTES, "a prefix");
      RecordFormat.need(in, RULE_BYTES - Short.BYTES, "a rule");
      try {
        rules.add(new NameRule(prefix, in.get(), in.getInt(), in.getLong()));
      } catch (IllegalArgumentException e) {
        throw malformed(Reason.CONTENT, "a rule with " + e.getMessage());
      }
      if (i > 0 && rules.get(i - 1).compareTo(rules.get(i)) >= 0) {
        throw malformed(Reason.CONTENT, "rules not in order");
      }
    }
    return rules;
  }
}
