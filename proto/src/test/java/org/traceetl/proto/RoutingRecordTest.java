package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.EdgeQueues.Queues;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.MalformedDecisionsException.Reason;
import org.traceetl.proto.RulesRecord.Constant;
import org.traceetl.proto.RulesRecord.Dimension;
import org.traceetl.proto.RulesRecord.Form;
import org.traceetl.proto.RulesRecord.Measure;
import org.traceetl.proto.RulesRecord.MeasureType;
import org.traceetl.proto.RulesRecord.MeasureValue;
import org.traceetl.proto.RulesRecord.Objective;
import org.traceetl.proto.RulesRecord.Rule;
import org.traceetl.proto.RulesRecord.Source;
import org.traceetl.proto.RulesRecord.Template;

/** The records of all kinds in the routing topic. */
final class RoutingRecordTest {
  private static final long EPOCH = 1_795_255_028_312L;
  private static final long NOW_MILLIS = 1_795_255_000_000L;
  private static final long EARLIER_MILLIS = 1_795_250_000_000L;

  /**
   * A kind of record, with an example of two applications, of which a golden file has the bytes.
   */
  enum Kind {
    DECISIONS(
        HotspotDecisions.FORMAT,
        new HotspotDecisions(
            EPOCH,
            1_795_255_028_000L,
            Map.of(
                "checkout", new Decision(8, false, 1_420, NOW_MILLIS),
                "größe", new Decision(64, true, 0, EARLIER_MILLIS)))),
    NAMES(
        LearntNames.FORMAT,
        new LearntNames(
            EPOCH,
            1_795_255_028_000L,
            Map.of(
                "shop",
                new NameRules(
                    List.of(
                        new NameRule("/users/{*}/orders/", 0, 502, NOW_MILLIS),
                        new NameRule("/users/", 1, 501, EARLIER_MILLIS))),
                "größe",
                new NameRules(List.of(new NameRule("GET ", 0, 10_001, EARLIER_MILLIS)))))),
    DEMAND(
        Demand.FORMAT,
        new Demand(
            EPOCH,
            1_795_255_028_000L,
            Map.of(
                "0a1b",
                new Part(
                    NOW_MILLIS,
                    EPOCH - 1_000,
                    false,
                    15_000,
                    List.of("http.route", "rpc.method"),
                    List.of(
                        new SlowRule("shop-*", 1 << 2 | 1 << 3, 250_000_000),
                        new SlowRule("*", 0, 2_000_000_000)),
                    1_000_000_000,
                    List.of("audit")),
                "ff00",
                new Part(
                    EARLIER_MILLIS,
                    EPOCH,
                    true,
                    60_000,
                    List.of(),
                    List.of(),
                    0,
                    List.of(),
                    Demand.BUNDLES)))),
    EDGE_QUEUES(
        EdgeQueues.FORMAT,
        new EdgeQueues(
            EPOCH,
            1_795_255_028_000L,
            Map.of("broker-a", new Queues(0, 1, 7), "größe", new Queues(300)))),
    RULES(
        RulesRecord.FORMAT,
        new RulesRecord(
            EPOCH,
            1_795_255_028_000L,
            Map.of(
                "shop-*",
                new Rule(
                    0,
                    2_000_000_000L,
                    List.of(
                        new SlowRule("*", 1 << 4 | 1 << 5, 30_000_000_000L),
                        new SlowRule("shop-eu", 0, 250_000_000)),
                    List.of(
                        new Dimension("http.route", null, Source.ANY),
                        new Dimension("cloud.region", "region", Source.RESOURCE)),
                    List.of(new Template("*", "job [^ ]+", "job {name}"))),
                "größe",
                new Rule(1, null, List.of(), null, null))));

    private final RecordFormat<?, ?> format;
    private final RoutingRecord example;

    Kind(RecordFormat<?, ?> format, RoutingRecord example) {
      this.format = format;
      this.example = example;
    }

    private RoutingRecord decode(byte[] bytes) throws MalformedDecisionsException {
      return format.decode(bytes);
    }

    private Reason reason(byte[] bytes) {
      return catchThrowableOfType(MalformedDecisionsException.class, () -> decode(bytes)).reason();
    }

    private void refusesOrReadsUnchanged(byte[] forged) {
      try {
        RoutingRecord read = decode(forged);
        if (this == DEMAND) {
          // Skips bytes and flags that it does not know.
          assertThat(decode(read.encode())).isEqualTo(read);
        } else {
          assertThat(read.encode()).isEqualTo(forged);
        }
      } catch (MalformedDecisionsException e) {
        assertThat(e.reason()).isIn(Reason.LENGTH, Reason.CONTENT);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesOfTheExampleNeverChange(Kind kind) throws Exception {
    String file = kind.name().toLowerCase(Locale.ROOT) + "_1.hex";

    assertThat(GoldenBytesTest.lines(kind.example.encode()))
        .isEqualTo(GoldenBytesTest.golden(file));
    assertThat(kind.decode(GoldenBytesTest.bytes(file))).isEqualTo(kind.example);
  }

  @Property(tries = 300)
  void decisionsAreReadAsWritten(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(min = 1, max = 1_024) Integer> queues)
      throws MalformedDecisionsException {
    Map<String, Decision> applications = new HashMap<>();
    queues.forEach((name, k) -> {
      if (HotspotDecisions.takes(name)) {
        applications.put(name, new Decision(k, k % 2 == 0, k * 7, decided - k));
      }
    });
    HotspotDecisions decisions = new HotspotDecisions(epoch, decided, applications);

    assertThat(HotspotDecisions.FORMAT.decode(decisions.encode())).isEqualTo(decisions);
  }

  @Property(tries = 300)
  void namesAreReadAsWritten(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(min = 1, max = 30) Integer> rules)
      throws MalformedDecisionsException {
    Map<String, NameRules> applications = new HashMap<>();
    rules.forEach((name, count) -> {
      List<NameRule> its = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        its.add(new NameRule("x" + i % 5 + "/", i / 5, count, decided - i));
      }
      if (LearntNames.takes(name)) {
        applications.put(name, new NameRules(its));
      }
    });
    LearntNames learnt = new LearntNames(epoch, decided, applications);

    assertThat(LearntNames.FORMAT.decode(learnt.encode())).isEqualTo(learnt);
  }

  @Property(tries = 1_000)
  void changedByteIsFound(@ForAll Kind kind, @ForAll int at, @ForAll byte other) {
    byte[] bytes = kind.example.encode();
    int index = Math.floorMod(at, bytes.length);
    if (bytes[index] != other) {
      bytes[index] = other;
      assertThatThrownBy(() -> kind.decode(bytes)).isInstanceOf(MalformedDecisionsException.class);
    }
  }

  @Property(tries = 2_000)
  void anyBodyWithRightChecksumIsReadUnchangedOrRefused(
      @ForAll Kind kind, @ForAll byte[] tail, @ForAll @IntRange(max = 3) int count) {
    ByteBuffer out = ByteBuffer.allocate(23 + tail.length + 4);
    out.put(kind.example.encode(), 0, 21).putShort((short) count).put(tail);
    kind.refusesOrReadsUnchanged(sealed(out.array()));
  }

  @Property(tries = 4_000)
  void changedByteWithRightChecksumIsReadUnchangedOrRefused(
      @ForAll Kind kind, @ForAll int at, @ForAll byte other) {
    byte[] bytes = kind.example.encode();
    bytes[21 + Math.floorMod(at, bytes.length - 25)] = other;
    kind.refusesOrReadsUnchanged(sealed(bytes));
  }

  @ParameterizedTest
  @EnumSource
  void wrongLengthsAreRefused(Kind kind) {
    byte[] good = kind.example.encode();

    assertThat(kind.reason(new byte[0])).isEqualTo(Reason.LENGTH);
    assertThat(kind.reason(new byte[kind.format.maxBytes() + 1])).isEqualTo(Reason.LENGTH);
    assertThat(kind.reason(Arrays.copyOf(good, good.length - 1))).isEqualTo(Reason.CHECKSUM);
    assertThat(kind.reason(sealed(Arrays.copyOf(good, good.length - 1)))).isEqualTo(Reason.LENGTH);
    assertThat(kind.reason(sealed(Arrays.copyOf(good, good.length + 1)))).isEqualTo(Reason.LENGTH);
    Kind other = kind == Kind.NAMES ? Kind.DECISIONS : Kind.NAMES;
    assertThat(kind.reason(other.example.encode())).isEqualTo(Reason.MAGIC);
  }

  @ParameterizedTest(name = "{0}: {4}")
  @CsvSource({
    "DECISIONS, 0, 0, MAGIC, magic",
    "DECISIONS, 4, 2, VERSION, version",
    "DECISIONS, 5, -1, CONTENT, epoch",
    "DECISIONS, 21, 4, CONTENT, '1,026 applications'",
    "DECISIONS, 23, 127, LENGTH, length of a name",
    "DECISIONS, 25, 122, CONTENT, order of names",
    "DECISIONS, 25, -1, CONTENT, UTF-8",
    "DECISIONS, 34, 0, CONTENT, queues",
    "DECISIONS, 35, 2, CONTENT, flags",
    "DECISIONS, 36, -1, CONTENT, level",
    "NAMES, 4, 2, VERSION, version",
    "NAMES, 5, -1, CONTENT, epoch",
    "NAMES, 21, 4, CONTENT, '1,026 applications'",
    "NAMES, 25, 122, CONTENT, order of names",
    "NAMES, 33, 0, CONTENT, no rules",
    "NAMES, 39, 120, CONTENT, prefix without a separator at its end",
    "NAMES, 40, 31, CONTENT, tokens behind",
    "DEMAND, 4, 2, VERSION, version",
    "DEMAND, 5, -1, CONTENT, epoch",
    "DEMAND, 21, 4, CONTENT, '1,026 parts'",
    "DEMAND, 24, 33, LENGTH, a fingerprint of 33 bytes",
    "DEMAND, 25, 122, CONTENT, order of fingerprints",
    "DEMAND, 30, 0, LENGTH, a part without fields",
    "DEMAND, 29, 127, LENGTH, a part past the end",
    "DEMAND, 39, -1, CONTENT, negative epoch of a part",
    "DEMAND, 39, 1, CONTENT, a part changed after the record",
    "DEMAND, 48, -1, CONTENT, negative interval",
    "DEMAND, 52, -1, CONTENT, negative threshold",
    "DEMAND, 61, 65, CONTENT, 65 keys",
    "DEMAND, 60, -1, CONTENT, a huge number of keys",
    "DEMAND, 63, 0, LENGTH, an empty key",
    "DEMAND, 62, 127, LENGTH, a key past the end",
    "DEMAND, 64, -1, CONTENT, a key that is not UTF-8",
    "DEMAND, 87, -127, CONTENT, 129 slow rules",
    "DEMAND, 96, 64, CONTENT, a kind 6",
    "DEMAND, 97, -1, CONTENT, negative threshold of a rule",
    "DEMAND, 118, 65, CONTENT, 65 patterns",
    "EDGE_QUEUES, 4, 2, VERSION, version",
    "EDGE_QUEUES, 5, -1, CONTENT, epoch",
    "EDGE_QUEUES, 21, 4, CONTENT, '1,026 brokers'",
    "EDGE_QUEUES, 25, 122, CONTENT, order of names",
    "EDGE_QUEUES, 34, 0, CONTENT, no queues",
    "EDGE_QUEUES, 33, 127, CONTENT, a huge number of queues",
    "EDGE_QUEUES, 34, 127, LENGTH, queues past the end",
    "EDGE_QUEUES, 35, -1, CONTENT, negative queue",
    "EDGE_QUEUES, 42, 0, CONTENT, order of queues",
    "RULES, 4, 2, VERSION, version",
    "RULES, 5, -1, CONTENT, epoch",
    "RULES, 21, 4, CONTENT, '1,026 rules'",
    "RULES, 25, 122, CONTENT, order of patterns",
    "RULES, 33, 0, CONTENT, two rules at one place",
    "RULES, 33, 2, CONTENT, a place without a rule",
    "RULES, 32, 127, CONTENT, a huge place",
    "RULES, 34, -2, CONTENT, a negative duration that is not -1",
    "RULES, 58, 127, CONTENT, a duration above 365 days",
    "RULES, 66, 1, CONTENT, 258 thresholds",
    "RULES, 67, 3, CONTENT, thresholds past their end",
    "RULES, 69, 0, LENGTH, an empty pattern",
    "RULES, 71, 64, CONTENT, a kind 6",
    "RULES, 72, -1, CONTENT, a negative threshold",
    "RULES, 72, 127, CONTENT, a threshold above 365 days",
    "RULES, 98, 3, CONTENT, 770 dimensions",
    "RULES, 99, 3, LENGTH, dimensions past their end",
    "RULES, 100, 3, CONTENT, an unknown source",
    "RULES, 100, 8, CONTENT, an unknown bit of a source",
    "RULES, 102, 0, LENGTH, an empty attribute",
    "RULES, 114, 127, LENGTH, an attribute past the end",
    "RULES, 116, -1, CONTENT, an attribute that is not UTF-8",
    "RULES, 129, 0, LENGTH, an empty label",
    "RULES, 136, 1, CONTENT, 257 templates",
    "RULES, 137, 2, LENGTH, templates past the end",
    "RULES, 141, 4, LENGTH, a pattern of 1033 bytes",
    "RULES, 154, -1, CONTENT, a template that is not UTF-8",
  })
  void wrongValueHasItsReason(Kind kind, int at, byte value, Reason reason, String what) {
    assertThat(kind.reason(changed(kind.example.encode(), at, value))).as(what).isEqualTo(reason);
  }

  @Test
  void messagesDoNotContainTextsOfTheRecord() {
    byte[] forged = changed(Kind.NAMES.example.encode(), 39, (byte) '\n');

    assertThatThrownBy(() -> LearntNames.FORMAT.decode(forged))
        .isInstanceOf(MalformedDecisionsException.class)
        .hasMessageContaining("an invalid prefix of 4 characters")
        .hasMessageNotContaining("\n")
        .hasMessageNotContaining("GET");
  }

  @Test
  void rulesAreBounded() {
    Map<String, NameRules> applications = new HashMap<>();
    for (int i = 0; i <= LearntNames.MAX_RULES; i++) {
      applications.put("a" + i, new NameRules(List.of(new NameRule("x/", 0, 1, 1))));
    }

    assertThatThrownBy(() -> new LearntNames(1, 1, applications))
        .isInstanceOf(IllegalArgumentException.class);
    applications.remove("a0");
    assertThat(new LearntNames(1, 1, applications).rules()).isEqualTo(LearntNames.MAX_RULES);
    assertThatThrownBy(() -> new NameRules(List.of())).hasMessage("no rules");
    NameRule rule = new NameRule("x/", 0, 1, 1);
    assertThatThrownBy(() -> new NameRules(List.of(rule, new NameRule("x/", 0, 2, 2))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(LearntNames.takes("x".repeat(257))).isFalse();
  }

  @Property(tries = 300)
  void edgeQueuesAreReadAsWritten(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(max = 50) Integer> brokers)
      throws MalformedDecisionsException {
    Map<String, Queues> queues = new HashMap<>();
    brokers.forEach((name, count) -> {
      if (EdgeQueues.takes(name) && count > 0) {
        queues.put(name, new Queues(IntStream.range(0, count).map(i -> 3 * i).toArray()));
      }
    });
    EdgeQueues written = new EdgeQueues(epoch, decided, queues);

    assertThat(EdgeQueues.FORMAT.decode(written.encode())).isEqualTo(written);
  }

  @Property(tries = 300)
  void rulesAreReadAsWritten(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(max = 6) Integer> patterns)
      throws MalformedDecisionsException {
    Map<String, Rule> rules = new HashMap<>();
    patterns.forEach((pattern, count) -> {
      if (Demand.takesText(pattern)) {
        List<SlowRule> thresholds =
            IntStream.range(0, count).mapToObj(i -> new SlowRule(pattern, i, i)).toList();
        rules.put(
            pattern,
            new Rule(
                rules.size(),
                count % 2 == 0 ? null : RulesRecord.MAX_NANOS,
                count == 3 ? null : thresholds,
                count == 4
                    ? null
                    : Collections.nCopies(
                        count,
                        new Dimension(
                            pattern,
                            count == 5 ? null : pattern,
                            Source.values()[count % Source.values().length])),
                count == 5
                    ? null
                    : Collections.nCopies(count, new Template(pattern, pattern, pattern)),
                count == 0
                    ? Form.NONE
                    : new Form(
                        count == 1 ? null : List.of(1L, (long) count, RulesRecord.MAX_NANOS),
                        count == 2 ? null : RulesRecord.Kind.values()[count % 3],
                        count == 3 ? null : (Integer) (count * 2 - 4),
                        count == 4 ? null : RulesRecord.Unit.values()[count % 2]),
                count == 6 ? null : Collections.nCopies(count, measure(pattern, count))));
      }
    });
    RulesRecord written = new RulesRecord(epoch, decided, rules);

    assertThat(RulesRecord.FORMAT.decode(written.encode())).isEqualTo(written);
  }

  private static Measure measure(String text, int count) {
    MeasureValue value = MeasureValue.values()[count % MeasureValue.values().length];
    return new Measure(
        text,
        text,
        text,
        MeasureType.values()[count % 2],
        value,
        value == MeasureValue.ATTRIBUTE ? text : null,
        count,
        Collections.nCopies(count, text),
        Collections.nCopies(count, new Dimension(text, null, Source.SPAN)),
        Collections.nCopies(count, new Constant(text, text)),
        Collections.nCopies(count, count + 0.5));
  }

  @Test
  void measuresOfRulesAreBounded() {
    Measure small = measure("m", 1);
    assertThat(rule(Collections.nCopies(RulesRecord.MAX_MEASURES, small)).applications())
        .hasSize(1);
    refuses(
        Map.of(
            "a",
            new Rule(0, null, null, null, null, Form.NONE, many(RulesRecord.MAX_MEASURES + 1))));
    String text = "t".repeat(Demand.MAX_TEXT_BYTES);
    assertThatThrownBy(() -> rule(Collections.nCopies(RulesRecord.MAX_MEASURES, measure(text, 8))))
        .isInstanceOf(IllegalArgumentException.class);
    for (String wrong : List.of("", text + "t", "\ud800")) {
      assertThatThrownBy(() -> measure(wrong, 1)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Constant("a", wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> measure("m", 9)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void objectivesOfRulesAreReadAsWrittenAndBounded() throws MalformedDecisionsException {
    List<Objective> objectives =
        List.of(
            new Objective("fast", 99.9, 300_000_000L, 30, 4, "GET *"),
            new Objective("ok", 50, null, 7, 36, null));
    RulesRecord written = objectives(objectives);
    assertThat(RulesRecord.FORMAT.decode(written.encode())).isEqualTo(written);
    assertThat(RulesRecord.FORMAT.decode(objectives(List.of()).encode()))
        .as("an empty list replaces that of the defaults")
        .isEqualTo(objectives(List.of()))
        .isNotEqualTo(objectives(null));

    Objective ok = objectives.getLast();
    List<Objective> many = Collections.nCopies(RulesRecord.MAX_OBJECTIVES + 1, ok);
    assertThatThrownBy(() -> objectives(many)).hasMessageContaining("513 objectives");
    for (double target : new double[] {0, 100, -1, Double.NaN}) {
      assertThatThrownBy(() -> new Objective("a", target, null, 30, 4, null))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (String wrong : List.of("", "t".repeat(257))) {
      assertThatThrownBy(() -> new Objective("a", 99, null, 30, 4, wrong))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Objective(wrong, 99, null, 30, 4, null))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new Objective("a", 99, 0L, 30, 4, null))
        .isInstanceOf(IllegalArgumentException.class);
    for (int days : new int[] {6, 91}) {
      assertThatThrownBy(() -> new Objective("a", 99, null, days, 4, null))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new Objective("a", 99, null, 30, 0, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static RulesRecord objectives(List<Objective> objectives) {
    return new RulesRecord(
        1, 1, Map.of("a", new Rule(0, null, null, null, null, Form.NONE, null, objectives)));
  }

  /** Returns a measure of as many bytes as all of a record may have on average. */
  private static Measure largest() {
    String text = "t".repeat(Demand.MAX_TEXT_BYTES);
    int bytes = RulesRecord.MAX_MEASURE_BYTES / RulesRecord.MAX_MEASURES;
    Measure shorter = measure(text, "n");
    int rest = bytes - RulesRecord.measureBytes(rule(List.of(shorter)).applications().values());
    return measure(text, "n".repeat(1 + rest));
  }

  private static Measure measure(String text, String name) {
    return new Measure(
        name,
        text,
        "s",
        MeasureType.HISTOGRAM,
        MeasureValue.ONE,
        null,
        0,
        Collections.nCopies(4, text),
        List.of(),
        List.of(),
        Collections.nCopies(Measure.MAX_BOUNDS, 1.0));
  }

  private static List<Measure> many(int measures) {
    return Collections.nCopies(measures, measure("m", 1));
  }

  private static RulesRecord rule(List<Measure> measures) {
    return new RulesRecord(
        1, 1, Map.of("a", new Rule(0, null, null, null, null, Form.NONE, measures)));
  }

  @Test
  void rulesOfApplicationsAreBounded() throws MalformedDecisionsException {
    String text = "t".repeat(Demand.MAX_TEXT_BYTES);
    String template = "t".repeat(RulesRecord.MAX_TEMPLATE_BYTES);
    Rule most =
        new Rule(
            0,
            1L,
            Collections.nCopies(RulesRecord.MAX_THRESHOLDS, new SlowRule(text, 0, 1)),
            Collections.nCopies(RulesRecord.MAX_DIMENSIONS, new Dimension(text, text, Source.SPAN)),
            Collections.nCopies(RulesRecord.MAX_TEMPLATES, new Template(text, template, template)),
            new Form(
                LongStream.rangeClosed(1, RulesRecord.MAX_BOUNDS).boxed().toList(), null, 8, null),
            Collections.nCopies(RulesRecord.MAX_MEASURES, largest()),
            Collections.nCopies(
                RulesRecord.MAX_OBJECTIVES,
                new Objective("o".repeat(Objective.MAX_NAME_BYTES), 99.9, 1L, 90, 63, text)));
    Form none = new Form(List.of(), null, null, null);
    Map<String, Rule> rules = new HashMap<>();
    for (int place = 0; place < RulesRecord.MAX_RULES; place++) {
      String pattern = "p".repeat(Demand.MAX_TEXT_BYTES - 3) + (100 + place);
      rules.put(
          pattern,
          place == 0
              ? most
              : new Rule(place, 1L, List.of(), List.of(), List.of(), none, List.of(), List.of()));
    }
    RulesRecord largest = new RulesRecord(1, 1, rules);

    assertThat(largest.encode()).hasSize(RulesRecord.FORMAT.maxBytes());
    assertThat(RulesRecord.FORMAT.decode(largest.encode())).isEqualTo(largest);
    rules.put("one more", new Rule(1, null, null, null, null));
    refuses(rules);
    refuses(Map.of("", new Rule(0, 1L, null, null, null)));
    refuses(with(most, new Rule(1, 1L, most.thresholds().subList(0, 1), null, null)));
    refuses(with(most, new Rule(1, 1L, null, most.dimensions().subList(0, 1), null)));
    refuses(with(most, new Rule(1, 1L, null, null, most.templates().subList(0, 1))));
    refuses(with(most, new Rule(1, 1L, null, null, null, new Form(List.of(1L), null, null, null))));
    for (List<Long> bounds : List.of(List.of(0L), List.of(2L, 1L), List.of(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> new Form(bounds, null, null, null))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new Form(null, null, 9, null))
        .isInstanceOf(IllegalArgumentException.class);
    for (String wrong : List.of("", text + "t", "\ud800")) {
      assertThatThrownBy(() -> new Dimension(wrong, null, Source.ANY))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Dimension("a", wrong, Source.ANY))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Template(wrong, "a", "a"))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new Template("a", template + "t", "a"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Template("a", "a", template + "t"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Map<String, Rule> with(Rule first, Rule second) {
    return Map.of("a", first, "b", second);
  }

  private static void refuses(Map<String, Rule> rules) {
    assertThatThrownBy(() -> new RulesRecord(1, 1, rules))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1,1", "2,1"})
  void queuesThatAreNotInOrderAreRefused(String numbers) {
    int[] parsed =
        numbers.isEmpty()
            ? new int[0]
            : Arrays.stream(numbers.split(",")).mapToInt(Integer::parseInt).toArray();

    assertThatThrownBy(() -> new Queues(parsed)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void allReadersAgreeWhichOfTwoRecordsHolds() {
    HotspotDecisions later = with(2, 1, 4);
    HotspotDecisions fewer = with(1, 1, 4);
    HotspotDecisions more = with(1, 1, 200);

    assertThat(later.holdsOver(more)).isTrue();
    assertThat(more.holdsOver(later)).isFalse();
    assertThat(more.holdsOver(fewer)).isTrue();
    assertThat(fewer.holdsOver(more)).isFalse();
    assertThat(more.holdsOver(with(1, 1, 200))).isFalse();
    assertThat(with(1, -1, 4).holdsOver(more)).isTrue(); // unsigned
    assertThat(fewer.holdsOver(HotspotDecisions.NONE)).isTrue();
  }

  @Test
  void epochOneDayAheadIsRead() throws MalformedDecisionsException {
    HotspotDecisions ahead = with(NOW_MILLIS + 86_400_000, 1, 4);

    assertThat(HotspotDecisions.FORMAT.decode(ahead.encode(), NOW_MILLIS)).isEqualTo(ahead);
  }

  @ParameterizedTest
  @ValueSource(longs = {NOW_MILLIS + 86_400_001, Long.MAX_VALUE})
  void epochMoreThanOneDayAheadIsRefused(long epoch) {
    byte[] further = with(epoch, 1, 4).encode();

    assertThatThrownBy(() -> HotspotDecisions.FORMAT.decode(further, NOW_MILLIS))
        .isInstanceOf(MalformedDecisionsException.class)
        .hasMessageContaining("epoch " + epoch)
        .extracting("reason")
        .isEqualTo(Reason.CONTENT);
  }

  private static HotspotDecisions with(long epoch, long decidedMillis, int queues) {
    return new HotspotDecisions(
        epoch, decidedMillis, Map.of("hot", new Decision(queues, false, 1, 1)));
  }

  private static byte[] changed(byte[] bytes, int at, byte value) {
    bytes[at] = value;
    return sealed(bytes);
  }

  private static byte[] sealed(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, bytes.length - 4);
    ByteBuffer.wrap(bytes).putInt(bytes.length - 4, (int) checksum.getValue());
    return bytes;
  }
}
