package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.Utf8;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.TraceDocument;

/**
 * Selected spans and a sample of all spans of one application, from batches. Batches of other
 * applications are skipped by their heads. One owner thread.
 *
 * <p>Agents send slow and failed spans whole, and others in groups; of all traces a consistent
 * sample is sent whole. So if no group has a selected span, all selected spans are here, else those
 * of the sample. Spans that are whole for another reason (exemplars) do not count: they are whole,
 * in a batch by a demand, not selected, and not marked as members of the sample. A batch without
 * groups has no marks: its ordinary spans are a sample if their agent has no groups by a demand.
 *
 * <p>Members of a sample may represent different numbers of spans. Those of an operation are
 * thinned, by a hash of the trace ID, until each represents a power of two: at least the greatest
 * weight of the operation, and more if memory does not suffice. So members count 1 each, and which
 * ones remain depends only on the messages. Powers of two bound how often this happens.
 */
final class SpanSample implements RetainedMessages.Reader {
  /** Operations, which are names and kinds; spans of further ones are left out. */
  static final int MAX_OPERATIONS = 10_000;

  /** Values kept of a span; further ones are left out. */
  static final int MAX_VALUES_OF_SPAN = 128;

  /** Ordinary spans of further agents are no sample unless they are marked. */
  static final int MAX_AGENTS = 100_000;

  private static final int MAX_VALUE_BYTES = 256;
  private static final int KINDS = 6;

  /** A power of two. */
  private static final int RECENT = 2_048;

  private static final int UNKNOWN = -2;
  private static final int NOT_ASKED_FOR = -1;
  private static final long RANGE = 1L << 56;
  private static final String STATUS_MESSAGE = "otel.status_description";

  private final Question question;
  private final int maxUnits;
  private final int maxNameBytes;
  private final SpanNames names;
  private final byte[] application;
  private final boolean isUnnamed;
  private final SpanBatchReader reader = new SpanBatchReader();
  private final BundleReader bundle = new BundleReader();
  private final BitSet members = new BitSet();

  private final AttributeValues values = new AttributeValues();
  private final Map<Operation, Integer> operationNumbers = new HashMap<>();
  private final List<Operation> operations = new ArrayList<>();
  private final List<Units> unitsOf = new ArrayList<>();
  private final Map<Id, Integer> agents = new HashMap<>();
  private final Set<Integer> demandedAgents = new HashSet<>();

  /** The least weight of any operation's selected units, so that memory suffices. */
  private double leastWhole = 1;

  /** The least weight of any operation's members of the sample. */
  private double leastSample = 1;

  private int wholeUnits;
  private int sampleUnits;

  private boolean isBaseline;
  private boolean isOfIndex;
  private long grouped;
  private volatile long allMessages;
  private volatile long messages;
  private long batches;
  private long refused;

  // Of the batch
  private int[] operationOf = {};

  /** By entry of the dictionary; null if it was not needed yet. */
  private String[] textOf = {};

  /** The number that a text is, of entries with a text; NaN for none. */
  private double[] numberOf = {};

  /** The number of the attribute, of entries that are keys; UNKNOWN if it was not needed yet. */
  private int[] keyNumberOf = {};

  /** Pairs of entries whose values were looked up recently, and these. */
  private final long[] recentPairs = new long[RECENT];

  private final int[] recentValues = new int[RECENT];

  private final int[] found = new int[MAX_VALUES_OF_SPAN];
  private final int[] numericKeys = new int[MAX_VALUES_OF_SPAN];
  private final double[] numbers = new double[MAX_VALUES_OF_SPAN];
  private int numeric;
  private boolean byDemand;
  private int agent;

  /** A name and kind. */
  record Operation(String name, int kind) {}

  /** Of a trace or an agent. */
  private record Id(long high, long low) implements Comparable<Id> {
    /** So that a map finds IDs with equal hashes, which senders may choose, in a tree. */
    @Override
    public int compareTo(Id other) {
      int byHigh = Long.compare(high, other.high);
      return byHigh != 0 ? byHigh : Long.compare(low, other.low);
    }
  }

  /** The spans of an operation. */
  private static final class Units {
    private final Map<Id, Unit> ofTraces = new HashMap<>();

    /** The weight of selected units, if all selected spans are here. */
    private double wholeWeight;

    /** The weight of members of the sample. */
    private double sampleWeight;

    private int whole;
    private int members;
    private long spans;
    private long selected;

    /** Selected spans that those of the index represent. */
    private double represented;

    Units(double wholeWeight, double sampleWeight) {
      this.wholeWeight = wholeWeight;
      this.sampleWeight = sampleWeight;
    }
  }

  /**
   * @param maxUnits maximum number of selected units, and of members of the sample; each about 300
   *     bytes
   */
  SpanSample(Question question, SpanNames names, int maxNameBytes, int maxUnits) {
    this.question = question;
    this.names = names;
    this.maxNameBytes = maxNameBytes;
    this.maxUnits = maxUnits;
    application = question.application().getBytes(UTF_8);
    isUnnamed = question.application().equals(Applications.UNNAMED);
  }

  /** What comes next is of the earlier interval, in which no span is selected. */
  void beginBaseline() {
    isBaseline = true;
  }

  /** What comes next is of the interval of the question. */
  void beginSelection() {
    isBaseline = false;
  }

  /**
   * Adds a span of the index, and leaves out those that the question is not about, and exemplars,
   * which would overstate rare series. The spans of the earlier interval are the baseline, of which
   * the index has slow and failed ones only. A sample has documents or messages, not both.
   */
  void add(TraceDocument document) {
    if (document.reason() == TraceDocument.Reason.EXEMPLAR
        || !question.selects(document.status(), document.durationNanos())
        || !question.asksFor(document.operation(), document.kind())) {
      return;
    }
    int operation = number(new Operation(document.operation(), document.kind()));
    if (operation < 0) {
      return;
    }
    isOfIndex = true;
    Units of = unitsOf.get(operation);
    double weight = document.represents();
    of.represented += isBaseline ? 0 : weight;
    Id trace =
        new Id(
            HexFormat.fromHexDigitsToLong(document.traceId(), 0, 16),
            HexFormat.fromHexDigitsToLong(document.traceId(), 16, 32));
    Unit unit = of.ofTraces.computeIfAbsent(trace, id -> new Unit(id.high, id.low, operation));
    unit.weight = Math.max(unit.weight, weight);
    unit.wholeWeight = isBaseline ? unit.wholeWeight : 1;
    unit.sampleWeight = isBaseline ? 1 : unit.sampleWeight;
    long spanId = HexFormat.fromHexDigitsToLong(document.spanId());
    if (unit.takes(!isBaseline, mix(spanId))) {
      unit.values = attributes(document);
      unit.numericKeys = Arrays.copyOf(numericKeys, numeric);
      unit.numbers = Arrays.copyOf(numbers, numeric);
      unit.spanId = spanId;
      unit.startUnixNanos = document.startUnixNanos();
      unit.durationNanos = document.durationNanos();
    }
    unit.selected |= !isBaseline;
  }

  private int[] attributes(TraceDocument document) {
    int size = 0;
    numeric = 0;
    if (!document.statusMessage().isEmpty()) {
      size =
          add(size, values.number(values.keyNumber(STATUS_MESSAGE), cut(document.statusMessage())));
    }
    for (Map.Entry<String, String> attribute : document.attributes().entrySet()) {
      if (attribute.getKey().equals(TraceDocument.REPRESENTS)) {
        continue;
      }
      int key = values.keyNumber(attribute.getKey());
      if (size == MAX_VALUES_OF_SPAN) {
        values.leaveOut(key);
      } else {
        String text = cut(attribute.getValue());
        size = add(size, value(key, text, Ranges.number(text)));
      }
    }
    return Arrays.copyOf(found, size);
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(text.length(), MAX_VALUE_BYTES));
  }

  @Override
  public void begin(long more) {
    allMessages += more;
  }

  /** Memory is bounded otherwise. */
  @Override
  public boolean isFull() {
    return false;
  }

  @Override
  public void add(QueueId queue, byte[] message) {
    messages++;
    if (Heartbeat.begins(message)) {
      return;
    }
    if (!BundleReader.begins(message, 0, message.length)) {
      add(message, 0, message.length);
      return;
    }
    if (bundle.wrap(message, 0, message.length) != Rejection.NONE) {
      refused++;
    }
    for (int part = 0; part < bundle.count(); part++) {
      add(message, bundle.offset(part), bundle.length(part));
    }
  }

  private void add(byte[] message, int offset, int length) {
    Rejection rejection = reader.wrap(message, offset, length);
    if (rejection == Rejection.NONE && !isOfApplication()) {
      return;
    }
    if (rejection != Rejection.NONE) {
      refused++;
      return;
    }
    beginBatch();
    // A batch counts as a whole or not at all, so it is read twice.
    if (count() != Rejection.NONE) {
      refused++;
      return;
    }
    batches++;
    long threshold = reader.sampleThreshold();
    while (reader.nextSample()) {
      int operation = operation(reader.name(), reader.kind());
      if (operation >= 0) {
        addMember(operation, weight(reader.samplingThreshold()), false);
      }
    }
    reader.wrap(message, offset, length);
    for (int span = 0; reader.next(); span++) {
      int operation = operation(reader.name(), reader.kind());
      if (operation < 0) {
        continue;
      }
      if (!byDemand) {
        addUnmarked(operation);
      } else if (members.get(span)) {
        addMember(operation, weight(Math.max(threshold, reader.samplingThreshold())), true);
      } else if (isSelected()) {
        addWhole(operation);
      }
    }
  }

  private boolean isOfApplication() {
    int entry = reader.application();
    int length = reader.dictionaryLength(entry);
    int offset = reader.dictionaryOffset(entry);
    return length == 0
        ? isUnnamed
        : Arrays.equals(
            application, 0, application.length, reader.buffer(), offset, offset + length);
  }

  private void beginBatch() {
    int entries = reader.dictionarySize();
    if (operationOf.length < KINDS * entries) {
      operationOf = new int[2 * KINDS * entries];
    }
    Arrays.fill(operationOf, 0, KINDS * entries, UNKNOWN);
    if (textOf.length < entries) {
      textOf = new String[2 * entries];
      numberOf = new double[2 * entries];
      keyNumberOf = new int[2 * entries];
    }
    Arrays.fill(textOf, 0, entries, null);
    Arrays.fill(keyNumberOf, 0, entries, UNKNOWN);
    Arrays.fill(recentPairs, UNKNOWN);
    members.clear();
    names.nextBatch(question.application(), entries);
    Id of = new Id(reader.agentHigh(), reader.agentLow());
    if (agents.size() < MAX_AGENTS) {
      agents.putIfAbsent(of, agents.size());
    }
    agent = agents.getOrDefault(of, Unit.NONE);
    byDemand = reader.demand() > 0 || agent == Unit.NONE;
  }

  /** Counts all spans and finds the marks; returns whether the batch is valid. */
  private Rejection count() {
    long[] counts = {};
    while (reader.next()) {
      counts = add(counts, 1, isSelected() ? 1 : 0);
    }
    boolean hasGroups = false;
    long groupedHere = 0;
    while (reader.nextGroup()) {
      hasGroups = true;
      long selected = 0;
      for (int i = 0; i < reader.groupSize() && !isBaseline; i++) {
        selected += question.selects(reader.status(), reader.groupDurationsNanos()[i]) ? 1 : 0;
      }
      groupedHere += operation(reader.name(), reader.kind()) < 0 ? 0 : selected;
      counts = add(counts, reader.groupSize(), selected);
    }
    if (reader.rejection() != Rejection.NONE) {
      return reader.rejection();
    }
    while (reader.nextSampled()) {
      members.set(reader.sampledSpan());
    }
    if (byDemand && hasGroups) {
      demandedAgents.add(agent);
    }
    grouped += groupedHere;
    for (int i = 0; i < 2 * operations.size() && i < counts.length && !isBaseline; i += 2) {
      unitsOf.get(i / 2).spans += counts[i];
      unitsOf.get(i / 2).selected += counts[i + 1];
    }
    return reader.rejection();
  }

  /** Adds the current span or group to counts by operation. */
  private long[] add(long[] counts, long spans, long selected) {
    int operation = operation(reader.name(), reader.kind());
    if (operation < 0) {
      return counts;
    }
    long[] grown =
        2 * operation < counts.length ? counts : Arrays.copyOf(counts, 4 * operation + 4);
    grown[2 * operation] += spans;
    grown[2 * operation + 1] += selected;
    return grown;
  }

  private boolean isSelected() {
    return !isBaseline && question.selects(reader.status(), reader.durationNanos());
  }

  private static double weight(long threshold) {
    return (double) RANGE / (RANGE - threshold);
  }

  /** Returns the operation's number, or less than 0 if it is not asked for. */
  private int operation(int name, int kind) {
    int at = KINDS * name + kind;
    if (operationOf[at] == UNKNOWN) {
      names.resolve(
          name, reader.buffer(), reader.dictionaryOffset(name), reader.dictionaryLength(name));
      int length = Utf8.cut(names.buffer(), names.offset(), names.length(), maxNameBytes);
      String text = new String(names.buffer(), names.offset(), length, UTF_8);
      operationOf[at] =
          question.asksFor(text, kind) ? number(new Operation(text, kind)) : NOT_ASKED_FOR;
    }
    return operationOf[at];
  }

  private int number(Operation operation) {
    Integer known = operationNumbers.get(operation);
    if (known != null) {
      return known;
    }
    int number = operations.size();
    if (number == MAX_OPERATIONS) {
      return NOT_ASKED_FOR;
    }
    operationNumbers.put(operation, number);
    operations.add(operation);
    unitsOf.add(new Units(leastWhole, leastSample));
    return number;
  }

  /** Adds a span of the trace sample. */
  private void addMember(int operation, double weight, boolean isWhole) {
    boolean isSelected = isSelected();
    if (isSelected || comparesWithOthers()) {
      double whole = isSelected && isWhole ? weight(reader.samplingThreshold()) : 0;
      add(operation, whole, weight, Unit.NONE);
    }
  }

  /** Adds a selected span that is not in the sample. */
  private void addWhole(int operation) {
    add(operation, weight(reader.samplingThreshold()), 0, Unit.NONE);
  }

  /** Adds a span of a batch without groups by a demand. */
  private void addUnmarked(int operation) {
    boolean isSelected = isSelected();
    boolean isMember = !demandedAgents.contains(agent);
    if (isSelected || isMember && comparesWithOthers()) {
      double weight = weight(reader.samplingThreshold());
      add(operation, isSelected ? weight : 0, isMember ? weight : 0, isMember ? agent : Unit.NONE);
    }
  }

  /** Returns whether spans that are not selected are the baseline. */
  private boolean comparesWithOthers() {
    return isBaseline || question.earlier() == null;
  }

  /**
   * Adds the current span to its unit, unless the thinning excludes it.
   *
   * @param whole weight if all selected spans are here, 0 if it is none of these
   * @param member weight as a member of the sample, 0 if it is not one
   * @param ofAgent the agent on which it depends whether it is a member
   */
  private void add(int operation, double whole, double member, int ofAgent) {
    Units of = unitsOf.get(operation);
    thin(of, powerOfTwo(whole), powerOfTwo(member));
    double place = place(reader.traceIdHigh(), reader.traceIdLow());
    if (place * of.wholeWeight >= whole && place * of.sampleWeight >= member) {
      return;
    }
    Unit unit =
        of.ofTraces.computeIfAbsent(
            new Id(reader.traceIdHigh(), reader.traceIdLow()),
            trace -> new Unit(trace.high, trace.low, operation));
    boolean wasWhole = isWhole(unit);
    boolean wasMember = isMember(unit);
    unit.wholeWeight = Math.max(unit.wholeWeight, whole);
    if (ofAgent == Unit.NONE) {
      unit.sampleWeight = Math.max(unit.sampleWeight, member);
    } else {
      unit.agent = ofAgent;
      unit.agentWeight = Math.max(unit.agentWeight, member);
    }
    boolean isSelected = isSelected();
    if (unit.takes(isSelected, mix(reader.spanId()))) {
      unit.values = attributes();
      unit.numericKeys = Arrays.copyOf(numericKeys, numeric);
      unit.numbers = Arrays.copyOf(numbers, numeric);
      unit.spanId = reader.spanId();
      unit.startUnixNanos = reader.startUnixNanos();
      unit.durationNanos = reader.durationNanos();
    }
    unit.selected |= isSelected;
    count(of, !wasWhole && isWhole(unit) ? 1 : 0, !wasMember && isMember(unit) ? 1 : 0);
    while (wholeUnits > maxUnits || sampleUnits > maxUnits) {
      leastWhole *= wholeUnits > maxUnits ? 2 : 1;
      leastSample *= sampleUnits > maxUnits ? 2 : 1;
      unitsOf.forEach(each -> thin(each, leastWhole, leastSample));
    }
  }

  private void count(Units of, int whole, int members) {
    of.whole += whole;
    of.members += members;
    wholeUnits += whole;
    sampleUnits += members;
  }

  /** Returns the least power of two that is not less; less than 1 for 0. */
  private static double powerOfTwo(double weight) {
    double power = Math.scalb(1.0, Math.getExponent(weight));
    return power < weight ? 2 * power : power;
  }

  private boolean isWhole(Unit unit) {
    return place(unit.traceHigh, unit.traceLow) * unitsOf.get(unit.operation).wholeWeight
        < unit.wholeWeight;
  }

  private boolean isMember(Unit unit) {
    return place(unit.traceHigh, unit.traceLow) * unitsOf.get(unit.operation).sampleWeight
        < Math.max(unit.sampleWeight, isOfSample(unit) ? unit.agentWeight : 0);
  }

  private boolean isOfSample(Unit unit) {
    return unit.agent != Unit.NONE && !demandedAgents.contains(unit.agent);
  }

  /** Thins an operation's units until they have at least these weights. */
  private void thin(Units of, double wholeWeight, double sampleWeight) {
    if (wholeWeight <= of.wholeWeight && sampleWeight <= of.sampleWeight) {
      return;
    }
    of.wholeWeight = Math.max(of.wholeWeight, wholeWeight);
    of.sampleWeight = Math.max(of.sampleWeight, sampleWeight);
    of.ofTraces.values().removeIf(unit -> !isWhole(unit) && !isMember(unit));
    int whole = 0;
    int members = 0;
    for (Unit unit : of.ofTraces.values()) {
      whole += isWhole(unit) ? 1 : 0;
      members += isMember(unit) ? 1 : 0;
    }
    count(of, whole - of.whole, members - of.members);
  }

  /** Returns a number in [0, 1) that differs from the randomness by which agents sample. */
  private static double place(long traceHigh, long traceLow) {
    return (mix(traceHigh ^ mix(traceLow)) >>> 11) * 0x1p-53;
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long value) {
    long mixed = value + 0x9E37_79B9_7F4A_7C15L;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
    return mixed ^ mixed >>> 31;
  }

  private int[] attributes() {
    int size = 0;
    numeric = 0;
    int[] pairs = reader.attributes();
    if (reader.statusMessage() >= 0) {
      size =
          add(size, values.number(values.keyNumber(STATUS_MESSAGE), text(reader.statusMessage())));
    }
    int own = Math.min(reader.attributeCount(), MAX_VALUES_OF_SPAN - size);
    for (int i = 0; i < own; i++) {
      size = add(size, valueOf(pairs[2 * i], pairs[2 * i + 1]));
    }
    int ofResource = Math.min(reader.resourceAttributeCount(), MAX_VALUES_OF_SPAN - size);
    for (int i = 0; i < ofResource; i++) {
      size = add(size, valueOf(reader.resourceAttributeKey(i), reader.resourceAttributeValue(i)));
    }
    for (int i = own; i < reader.attributeCount(); i++) {
      values.leaveOut(keyNumber(pairs[2 * i]));
    }
    for (int i = ofResource; i < reader.resourceAttributeCount(); i++) {
      values.leaveOut(keyNumber(reader.resourceAttributeKey(i)));
    }
    return Arrays.copyOf(found, size);
  }

  private int add(int size, int value) {
    if (value == AttributeValues.NONE) {
      return size;
    }
    found[size] = value;
    return size + 1;
  }

  private int valueOf(int key, int value) {
    long pair = (long) key << Integer.SIZE | value;
    int at = (31 * key + value) & RECENT - 1;
    if (recentPairs[at] != pair) {
      recentPairs[at] = pair;
      recentValues[at] = value(keyNumber(key), text(value), numberOf[value]);
    } else {
      noteNumber(keyNumber(key), numberOf[value]);
    }
    return recentValues[at];
  }

  private int value(int keyNumber, String text, double number) {
    noteNumber(keyNumber, number);
    return values.number(keyNumber, text);
  }

  private void noteNumber(int keyNumber, double number) {
    if (keyNumber == AttributeValues.NONE) {
      return;
    }
    if (Double.isNaN(number) || numeric == numbers.length) {
      values.isNotNumeric(keyNumber);
    } else {
      numericKeys[numeric] = keyNumber;
      numbers[numeric++] = number;
    }
  }

  private int keyNumber(int entry) {
    if (keyNumberOf[entry] == UNKNOWN) {
      keyNumberOf[entry] = values.keyNumber(text(entry));
    }
    return keyNumberOf[entry];
  }

  private String text(int entry) {
    if (textOf[entry] == null) {
      int offset = reader.dictionaryOffset(entry);
      int length =
          Utf8.cut(reader.buffer(), offset, reader.dictionaryLength(entry), MAX_VALUE_BYTES);
      textOf[entry] = new String(reader.buffer(), offset, length, UTF_8);
      numberOf[entry] = Ranges.number(textOf[entry]);
    }
    return textOf[entry];
  }

  /** Returns whether some selected spans are in groups only, so that the sample selects. */
  boolean isSampled() {
    return grouped > 0;
  }

  /** Returns the units of the selection, by operation and trace. */
  List<Unit> selection() {
    return sorted(unit -> unit.selected && (isSampled() ? isMember(unit) : isWhole(unit)));
  }

  /** Returns the units of the baseline, by operation and trace. */
  List<Unit> baseline() {
    return sorted(unit -> !unit.selected && isMember(unit));
  }

  private List<Unit> sorted(Predicate<Unit> belongs) {
    return unitsOf.stream()
        .flatMap(of -> of.ofTraces.values().stream())
        .filter(belongs)
        .sorted((a, b) ->
            a.operation != b.operation
                ? Integer.compare(a.operation, b.operation)
                : a.traceHigh != b.traceHigh
                    ? Long.compareUnsigned(a.traceHigh, b.traceHigh)
                    : Long.compareUnsigned(a.traceLow, b.traceLow))
        .toList();
  }

  AttributeValues values() {
    return values;
  }

  List<Operation> operations() {
    return operations;
  }

  /** Returns the spans of an operation, including those in groups. */
  long spans(int operation) {
    return unitsOf.get(operation).spans + represented(operation);
  }

  /** Returns the selected spans of an operation, including those in groups. */
  long selected(int operation) {
    return unitsOf.get(operation).selected + represented(operation);
  }

  private long represented(int operation) {
    return Math.round(unitsOf.get(operation).represented);
  }

  /** Returns whether the spans are those of the index. */
  boolean isOfIndex() {
    return isOfIndex;
  }

  /** Returns how many spans a member of an operation's sample represents. */
  double sampleWeight(int operation) {
    return unitsOf.get(operation).sampleWeight;
  }

  /** Returns the number of messages to read, unless a limit is reached. Any thread. */
  long allMessages() {
    return allMessages;
  }

  long messages() {
    return messages;
  }

  /** Returns the batches of the application. */
  long batches() {
    return batches;
  }

  /** Returns the batches and bundles that no server could count. */
  long refused() {
    return refused;
  }
}
