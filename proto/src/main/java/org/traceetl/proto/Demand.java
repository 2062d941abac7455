package org.traceetl.proto;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What the servers need to know of spans, so that agents send the rest of ordinary spans only as
 * durations. Each configuration of servers has a part of its own; agents send what any part needs.
 * A record of the routing topic has all parts, so only the newest one is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TEDM}, and the names are
 * fingerprints of configurations, at most {@value #MAX_PARTS} of at most {@value
 * #MAX_FINGERPRINT_BYTES} bytes. The value of a part:
 *
 * <pre>
 *  0  length          2 bytes  of the bytes behind it; bytes behind the known fields are skipped
 *  2  seen            8 bytes  milliseconds since 1970
 * 10  changed         8 bytes  epoch, 1 to that of the record
 * 18  flags           1 byte   1: everything; other bits are ignored
 * 19  interval        4 bytes  milliseconds, at least 1
 * 23  slow otherwise  8 bytes  nanoseconds, at least 0
 * 31  keys            2 bytes  at most 64; then for each a text
 *     slow rules      2 bytes  at most 128; then for each
 *       application   text     pattern
 *       kinds         1 byte   bit k: kind k, 0 to 5; 0: all kinds
 *       threshold     8 bytes  nanoseconds, at least 0
 *     full            2 bytes  at most 64; then for each a text
 *     formats         1 byte   1: servers read bundles; 2: servers read windows with panes; 4:
 *                              servers read heartbeats; 8: servers read snapshots with open
 *                              panes; 16: servers need the sizes of spans; 32: servers read
 *                              half-edges; 64: servers read labels of single series in journals;
 *                              128: servers read their buckets and units; absent: 0
 *     edge keys       2 bytes  at most 8; then for each a text; absent: none
 *     key rules       2 bytes  at most 128; absent: none; then for each
 *       application   text     pattern
 *       keys          8 bytes  bit i: the key at place i
 *     formats         1 byte   256: servers read variances of sampled series in journals; absent: 0
 * </pre>
 *
 * What servers read counts if all parts have the bit. What they need counts if any part has it.
 *
 * <p>A key of which no key rule has the bit is needed of all applications, any other one only of
 * applications that match a rule with its bit. Agents that skip these rules send more than is
 * needed.
 *
 * <p>A text has its length (2 bytes, 1 to 256), then UTF-8.
 *
 * @param epoch rises with each record
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param parts what servers need, by the fingerprint of their configuration
 */
public record Demand(long epoch, long decidedMillis, Map<String, Part> parts)
    implements RoutingRecord {
  /** Most parts in one record. */
  public static final int MAX_PARTS = 16;

  /** Most bytes of a fingerprint. */
  public static final int MAX_FINGERPRINT_BYTES = 32;

  /** Most span keys of a part; those of all parts fit into the group keys of a batch. */
  public static final int MAX_KEYS = Limits.MAX_ATTRIBUTES / MAX_PARTS;

  /** Most edge keys of a part; those of all parts fit into a head of half-edges. */
  public static final int MAX_EDGE_KEYS = Limits.MAX_EDGE_DIMENSIONS / MAX_PARTS;

  /** Most slow rules of a part. */
  public static final int MAX_RULES = 128;

  /** Most key rules of a part. */
  public static final int MAX_KEY_RULES = 128;

  /** Most patterns of applications to send in full, of a part. */
  public static final int MAX_FULL = 64;

  /** Most bytes of a key or pattern. */
  public static final int MAX_TEXT_BYTES = 256;

  /** Bit of {@link Part#formats}: servers read bundles, see {@link BundleReader}. */
  public static final int BUNDLES = 1;

  /** Bit of {@link Part#formats}: servers read windows with panes in journals. */
  public static final int PANES = 2;

  /** Bit of {@link Part#formats}: servers read heartbeats, see {@link Heartbeat}. */
  public static final int HEARTBEATS = 4;

  /** Bit of {@link Part#formats}: servers read snapshots with open panes in journals. */
  public static final int OPEN_PANES = 8;

  /**
   * Bit of {@link Part#formats}: servers need the sizes of spans in batches. It is a need, so one
   * part with it is enough; servers without it skip the sizes.
   */
  public static final int SIZES = 16;

  /** Bit of {@link Part#formats}: servers read half-edges, see {@link EdgeBatchReader}. */
  public static final int EDGES = 32;

  /**
   * Bit of {@link Part#formats}: servers read series in journals that have labels of their own, in
   * addition to the dimensions of the configuration.
   */
  public static final int LABELS = 64;

  /**
   * Bit of {@link Part#formats}: servers read series in journals that have buckets and a unit of
   * their own.
   */
  public static final int FORMS = 128;

  /** Bit of {@link Part#formats}: servers read variances of sampled series in journals. */
  public static final int VARIANCES = 256;

  private static final int KINDS = Compact.MAX_KIND + 1;
  private static final int MAGIC = 0x5445444D;

  /** Most bytes of a part after its length. */
  private static final int MAX_PART_BYTES = 0xffff;

  /** Format of the record in the topic. */
  public static final RecordFormat<Demand, Part> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_PARTS,
          MAX_FINGERPRINT_BYTES,
          MAX_PARTS * (Short.BYTES + MAX_PART_BYTES),
          new PartFormat(),
          Demand::new);

  /** No demand yet. */
  public static final Demand NONE = new Demand(0, 0, Map.of());

  /**
   * From which duration spans are slow.
   *
   * @param application pattern of applications: {@code *} matches any run of characters
   * @param kinds bit k is set for kind k of the wire format; 0 for all kinds
   * @param nanos at least 0
   */
  public record SlowRule(String application, int kinds, long nanos) {
    /**
     * @throws IllegalArgumentException if a value is not valid
     */
    public SlowRule {
      if (!takesText(application) || kinds < 0 || kinds >= 1 << KINDS || nanos < 0) {
        throw new IllegalArgumentException(
            "a slow rule with kinds = " + kinds + ", nanos = " + nanos);
      }
    }

    private boolean matches(String name, int kind) {
      return (kinds == 0 || (kinds & 1 << kind) != 0) && Demand.matches(application, name);
    }
  }

  /**
   * Which of a part's keys some applications need.
   *
   * @param application pattern of applications: {@code *} matches any run of characters
   * @param keys bit i is set for the key at place i of the part's span keys
   */
  public record KeyRule(String application, long keys) {
    /**
     * @throws IllegalArgumentException if the pattern is not valid
     */
    public KeyRule {
      if (!takesText(application)) {
        throw new IllegalArgumentException("a key rule with an invalid pattern");
      }
    }
  }

  /**
   * What the servers of one configuration need.
   *
   * @param seenMillis when a server last had this configuration, milliseconds since 1970
   * @param changedEpoch the record's epoch when this content was first published, at least 1
   * @param everything whether all spans are needed whole
   * @param exemplarIntervalMillis how often a series needs a whole span, at least 1
   * @param spanKeys attributes of spans that series need
   * @param slowRules the first that matches a span's application and kind applies
   * @param slowOtherwiseNanos the duration from which other spans are slow, at least 0
   * @param full patterns of applications whose spans are needed whole
   * @param formats what these servers read or need in addition to batches and windows: the sum of
   *     {@link #BUNDLES}, {@link #PANES}, {@link #HEARTBEATS}, {@link #OPEN_PANES}, {@link #SIZES},
   *     {@link #EDGES}, {@link #LABELS}, {@link #FORMS}, {@link #VARIANCES} and bits of later
   *     releases, which stay when the part is published again. Releases without {@link #VARIANCES}
   *     publish only the first eight bits again
   * @param edgeKeys attributes of spans and resources that half-edges need
   * @param keyRules restrict span keys to applications; a key of which no rule has the bit is
   *     needed of all
   */
  public record Part(
      long seenMillis,
      long changedEpoch,
      boolean everything,
      int exemplarIntervalMillis,
      List<String> spanKeys,
      List<SlowRule> slowRules,
      long slowOtherwiseNanos,
      List<String> full,
      int formats,
      List<String> edgeKeys,
      List<KeyRule> keyRules) {
    /**
     * Creates a part of servers that read only batches.
     *
     * @throws IllegalArgumentException as the other constructor
     */
    public Part(
        long seenMillis,
        long changedEpoch,
        boolean everything,
        int exemplarIntervalMillis,
        List<String> spanKeys,
        List<SlowRule> slowRules,
        long slowOtherwiseNanos,
        List<String> full) {
      this(
          seenMillis,
          changedEpoch,
          everything,
          exemplarIntervalMillis,
          spanKeys,
          slowRules,
          slowOtherwiseNanos,
          full,
          0);
    }

    /**
     * Creates a part without edge keys and key rules.
     *
     * @throws IllegalArgumentException as the other constructor
     */
    public Part(
        long seenMillis,
        long changedEpoch,
        boolean everything,
        int exemplarIntervalMillis,
        List<String> spanKeys,
        List<SlowRule> slowRules,
        long slowOtherwiseNanos,
        List<String> full,
        int formats) {
      this(
          seenMillis,
          changedEpoch,
          everything,
          exemplarIntervalMillis,
          spanKeys,
          slowRules,
          slowOtherwiseNanos,
          full,
          formats,
          List.of(),
          List.of());
    }

    /**
     * @throws IllegalArgumentException if a value is not valid, or lists have more than a record
     *     holds
     */
    public Part {
      spanKeys = List.copyOf(spanKeys);
      slowRules = List.copyOf(slowRules);
      full = List.copyOf(full);
      edgeKeys = List.copyOf(edgeKeys);
      keyRules = List.copyOf(keyRules);
      formats &= 0xffff;
      if (changedEpoch < 1 || exemplarIntervalMillis < 1 || slowOtherwiseNanos < 0) {
        throw new IllegalArgumentException(
            "changedEpoch = "
                + changedEpoch
                + ", exemplarIntervalMillis = "
                + exemplarIntervalMillis
                + ", slowOtherwiseNanos = "
                + slowOtherwiseNanos);
      }
      if (spanKeys.size() > MAX_KEYS
          || slowRules.size() > MAX_RULES
          || full.size() > MAX_FULL
          || edgeKeys.size() > MAX_EDGE_KEYS
          || keyRules.size() > MAX_KEY_RULES
          || !spanKeys.stream().allMatch(Demand::takesText)
          || !full.stream().allMatch(Demand::takesText)
          || !edgeKeys.stream().allMatch(Demand::takesText)
          || PartFormat.contentBytes(spanKeys, slowRules, full, formats, edgeKeys, keyRules)
              > MAX_PART_BYTES) {
        throw new IllegalArgumentException(
            "a part with "
                + spanKeys.size()
                + " keys, "
                + slowRules.size()
                + " slow rules, "
                + full.size()
                + " patterns, "
                + edgeKeys.size()
                + " edge keys and "
                + keyRules.size()
                + " key rules is too large, or has an invalid text");
      }
    }

    /** Returns whether the other part demands the same, whenever it was published. */
    public boolean sameContent(Part other) {
      return equals(other.at(seenMillis, changedEpoch));
    }

    /** Returns a part with the same content that was published at other times. */
    public Part at(long seenMillis, long changedEpoch) {
      return new Part(
          seenMillis,
          changedEpoch,
          everything,
          exemplarIntervalMillis,
          spanKeys,
          slowRules,
          slowOtherwiseNanos,
          full,
          formats,
          edgeKeys,
          keyRules);
    }

    /** Returns the span keys that an application needs. */
    private List<String> spanKeys(String application) {
      long restricted = 0;
      long needed = 0;
      for (KeyRule rule : keyRules) {
        restricted |= rule.keys;
        if (Demand.matches(rule.application, application)) {
          needed |= rule.keys;
        }
      }
      long all = ~restricted | needed;
      return IntStream.range(0, spanKeys.size())
          .filter(place -> (all & 1L << place) != 0)
          .mapToObj(spanKeys::get)
          .toList();
    }

    private boolean isFull(String application) {
      return everything || full.stream().anyMatch(pattern -> matches(pattern, application));
    }

    private long slowNanos(String application, int kind) {
      return slowRules.stream()
          .filter(rule -> rule.matches(application, kind))
          .mapToLong(SlowRule::nanos)
          .findFirst()
          .orElse(slowOtherwiseNanos);
    }
  }

  /** What an application's spans need to contain. Immutable. */
  public static final class Wanted {
    private final List<String> spanKeys;
    private final long[] slowNanos;
    private final int exemplarIntervalMillis;
    private final boolean full;

    Wanted(List<String> spanKeys, long[] slowNanos, int exemplarIntervalMillis, boolean full) {
      this.spanKeys = List.copyOf(spanKeys);
      this.slowNanos = slowNanos;
      this.exemplarIntervalMillis = exemplarIntervalMillis;
      this.full = full;
    }

    /** Returns the attributes of spans that series need, sorted. */
    public List<String> spanKeys() {
      return spanKeys;
    }

    /**
     * Returns the duration from which a span is slow.
     *
     * @param kind as in the wire format, 0 to 5
     */
    public long slowNanos(int kind) {
      return slowNanos[kind];
    }

    /** Returns how often each series needs a whole span, at least 1. */
    public int exemplarIntervalMillis() {
      return exemplarIntervalMillis;
    }

    /** Returns whether all spans are needed whole. */
    public boolean full() {
      return full;
    }
  }

  /**
   * @throws IllegalArgumentException if there are more parts than a record holds, a fingerprint
   *     that it cannot hold, or a part that changed after the record's epoch
   */
  public Demand {
    parts = Map.copyOf(parts);
    if (parts.size() > MAX_PARTS || !parts.keySet().stream().allMatch(Demand::takes)) {
      throw new IllegalArgumentException("too many parts, or too long a fingerprint");
    }
    for (Part part : parts.values()) {
      if (part.changedEpoch > epoch) {
        throw new IllegalArgumentException(
            "a part of epoch " + part.changedEpoch + " in a record of epoch " + epoch);
      }
    }
  }

  /** Returns whether a record can contain a part with this fingerprint. */
  public static boolean takes(String fingerprint) {
    return FORMAT.takes(fingerprint);
  }

  /** Returns whether a part can contain this key or pattern. */
  public static boolean takesText(String text) {
    return RecordFormat.isText(text, MAX_TEXT_BYTES);
  }

  /** Returns the version that batches name: the epoch of the last change; 0 without parts. */
  public long version() {
    return parts.values().stream().mapToLong(Part::changedEpoch).max().orElse(0);
  }

  /** Returns whether all servers that published a part read bundles; false without a part. */
  public boolean readsBundles() {
    return allRead(BUNDLES);
  }

  /** As {@link #readsBundles}, of windows with panes. */
  public boolean readsPanes() {
    return allRead(PANES);
  }

  /** As {@link #readsBundles}, of heartbeats. */
  public boolean readsHeartbeats() {
    return allRead(HEARTBEATS);
  }

  /** As {@link #readsBundles}, of snapshots with open panes. */
  public boolean readsOpenPanes() {
    return allRead(OPEN_PANES);
  }

  /** As {@link #readsBundles}, of half-edges. */
  public boolean readsEdges() {
    return allRead(EDGES);
  }

  /** As {@link #readsBundles}, of labels of single series. */
  public boolean readsLabels() {
    return allRead(LABELS);
  }

  /** As {@link #readsBundles}, of buckets and units of single series. */
  public boolean readsForms() {
    return allRead(FORMS);
  }

  /** As {@link #readsBundles}, of variances of sampled series. */
  public boolean readsVariances() {
    return allRead(VARIANCES);
  }

  /** Returns whether servers of any part need the sizes of spans; false without a part. */
  public boolean needsSizes() {
    return parts.values().stream().anyMatch(part -> (part.formats & SIZES) != 0);
  }

  /**
   * Returns the attributes of spans and resources that half-edges need, of all applications;
   * sorted, at most {@link Limits#MAX_EDGE_DIMENSIONS}.
   */
  public List<String> edgeKeys() {
    TreeSet<String> keys = new TreeSet<>(RecordFormat.BY_BYTES);
    parts.values().forEach(part -> keys.addAll(part.edgeKeys));
    return List.copyOf(keys);
  }

  private boolean allRead(int format) {
    return !parts.isEmpty()
        && parts.values().stream().allMatch(part -> (part.formats & format) != 0);
  }

  /** Returns whether the other record demands the same, whenever it was published. */
  public boolean sameContent(Demand other) {
    return parts.keySet().equals(other.parts.keySet())
        && parts.entrySet().stream()
            .allMatch(part -> part.getValue().sameContent(other.parts.get(part.getKey())));
  }

  /** Returns what all parts together need of an application; null if there is no part. */
  public Wanted of(String application) {
    if (parts.isEmpty()) {
      return null;
    }
    TreeSet<String> keys = new TreeSet<>(RecordFormat.BY_BYTES);
    long[] slowNanos = new long[KINDS];
    Arrays.fill(slowNanos, Long.MAX_VALUE);
    int intervalMillis = Integer.MAX_VALUE;
    boolean full = false;
    for (Part part : parts.values()) {
      keys.addAll(part.spanKeys(application));
      for (int kind = 0; kind < KINDS; kind++) {
        slowNanos[kind] = Math.min(slowNanos[kind], part.slowNanos(application, kind));
      }
      intervalMillis = Math.min(intervalMillis, part.exemplarIntervalMillis);
      full |= part.isFull(application);
    }
    return new Wanted(List.copyOf(keys), slowNanos, intervalMillis, full);
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, parts);
  }

  /**
   * Returns whether a pattern matches the whole text. Takes at most (length of text) * (length of
   * pattern) steps: on a mismatch only the last star's run grows.
   */
  private static boolean matches(String pattern, String text) {
    int at = 0;
    int star = -1;
    int resume = 0;
    int i = 0;
    while (i < text.length()) {
      if (at < pattern.length() && pattern.charAt(at) == '*') {
        star = at++;
        resume = i;
      } else if (at < pattern.length() && pattern.charAt(at) == text.charAt(i)) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++resume;
      } else {
        return false;
      }
    }
    return pattern.substring(at).chars().allMatch(c -> c == '*');
  }

  private static final class PartFormat implements RecordFormat.Value<Part> {
    private static final int FIXED_BYTES = 2 * Long.BYTES + 1 + Integer.BYTES + Long.BYTES;
    private static final int RULE_BYTES = 1 + Long.BYTES;
    private static final int EVERYTHING = 1;
    private static final int FORMATS_BYTES = 1;

    /** The formats in the first byte; the others are behind the key rules. */
    private static final int MAX_FIRST_FORMATS = 0xff;

    /** Returns the bytes of a part after its length. */
    static int contentBytes(
        List<String> keys,
        List<SlowRule> rules,
        List<String> full,
        int formats,
        List<String> edgeKeys,
        List<KeyRule> keyRules) {
      int bytes = FIXED_BYTES + 3 * Short.BYTES + textBytes(keys) + textBytes(full) + FORMATS_BYTES;
      boolean hasMoreFormats = formats > MAX_FIRST_FORMATS;
      boolean hasKeyRules = !keyRules.isEmpty() || hasMoreFormats;
      bytes += hasMoreFormats ? FORMATS_BYTES : 0;
      bytes += edgeKeys.isEmpty() && !hasKeyRules ? 0 : Short.BYTES + textBytes(edgeKeys);
      bytes += hasKeyRules ? Short.BYTES : 0;
      for (KeyRule rule : keyRules) {
        bytes += RecordFormat.textBytes(rule.application) + Long.BYTES;
      }
      for (SlowRule rule : rules) {
        bytes += RecordFormat.textBytes(rule.application) + RULE_BYTES;
      }
      return bytes;
    }

    private static int textBytes(List<String> texts) {
      return texts.stream().mapToInt(RecordFormat::textBytes).sum();
    }

    @Override
    public int bytes(Part part) {
      return Short.BYTES
          + contentBytes(
              part.spanKeys, part.slowRules, part.full, part.formats, part.edgeKeys, part.keyRules);
    }

    @Override
    public void write(ByteBuffer out, Part part) {
      out.putShort((short) (bytes(part) - Short.BYTES));
      out.putLong(part.seenMillis).putLong(part.changedEpoch);
      out.put((byte) (part.everything ? EVERYTHING : 0));
      out.putInt(part.exemplarIntervalMillis).putLong(part.slowOtherwiseNanos);
      putTexts(out, part.spanKeys);
      out.putShort((short) part.slowRules.size());
      for (SlowRule rule : part.slowRules) {
        RecordFormat.putText(out, rule.application);
        out.put((byte) rule.kinds).putLong(rule.nanos);
      }
      putTexts(out, part.full);
      out.put((byte) part.formats);
      boolean hasMoreFormats = part.formats > MAX_FIRST_FORMATS;
      boolean hasKeyRules = !part.keyRules.isEmpty() || hasMoreFormats;
      if (!part.edgeKeys.isEmpty() || hasKeyRules) {
        putTexts(out, part.edgeKeys);
      }
      if (hasKeyRules) {
        out.putShort((short) part.keyRules.size());
        for (KeyRule rule : part.keyRules) {
          RecordFormat.putText(out, rule.application);
          out.putLong(rule.keys);
        }
      }
      if (hasMoreFormats) {
        out.put((byte) (part.formats >> Byte.SIZE));
      }
    }

    private static void putTexts(ByteBuffer out, List<String> texts) {
      out.putShort((short) texts.size());
      texts.forEach(text -> RecordFormat.putText(out, text));
    }

    @Override
    public Part read(ByteBuffer in) throws MalformedDecisionsException {
      int length = RecordFormat.count(in, 0, MAX_PART_BYTES, "bytes of a part");
      RecordFormat.need(in, length, "a part");
      ByteBuffer part = in.slice(in.position(), length);
      in.position(in.position() + length);
      return readContent(part);
    }

    private static Part readContent(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, FIXED_BYTES, "a part");
      long seenMillis = in.getLong();
      long changedEpoch = in.getLong();
      boolean everything = (in.get() & EVERYTHING) != 0;
      int intervalMillis = in.getInt();
      long slowOtherwiseNanos = in.getLong();
      List<String> keys = texts(in, MAX_KEYS, "keys");
      List<SlowRule> rules = rules(in);
      List<String> full = texts(in, MAX_FULL, "patterns");
      int formats = in.hasRemaining() ? Byte.toUnsignedInt(in.get()) : 0;
      List<String> edgeKeys = in.hasRemaining() ? texts(in, MAX_EDGE_KEYS, "edge keys") : List.of();
      List<KeyRule> keyRules = in.hasRemaining() ? keyRules(in) : List.of();
      formats |= in.hasRemaining() ? Byte.toUnsignedInt(in.get()) << Byte.SIZE : 0;
      return new Part(
          seenMillis,
          changedEpoch,
          everything,
          intervalMillis,
          keys,
          rules,
          slowOtherwiseNanos,
          full,
          formats,
          edgeKeys,
          keyRules);
    }

    private static List<KeyRule> keyRules(ByteBuffer in) throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 0, MAX_KEY_RULES, "key rules");
      List<KeyRule> rules = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String application = RecordFormat.text(in, MAX_TEXT_BYTES, "a pattern");
        RecordFormat.need(in, Long.BYTES, "a key rule");
        rules.add(new KeyRule(application, in.getLong()));
      }
      return rules;
    }

    private static List<String> texts(ByteBuffer in, int max, String what)
        throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 0, max, what);
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        texts.add(RecordFormat.text(in, MAX_TEXT_BYTES, "a key or pattern"));
      }
      return texts;
    }

    private static List<SlowRule> rules(ByteBuffer in) throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 0, MAX_RULES, "slow rules");
      List<SlowRule> rules = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String application = RecordFormat.text(in, MAX_TEXT_BYTES, "a pattern");
        RecordFormat.need(in, RULE_BYTES, "a slow rule");
        rules.add(new SlowRule(application, Byte.toUnsignedInt(in.get()), in.getLong()));
      }
      return rules;
    }
  }
}
