package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.Utf8;

/**
 * Decodes one message at a time into columns: a batch of spans, or a single span in its own format,
 * which is a batch of one. A message is read completely before any of it can count, so a malformed
 * one is lost as a whole and affects no other.
 *
 * <p>If a topic may have both, the first byte distinguishes them: batches begin with field 1, a
 * number, and a single span never does. A message that is not a batch is read as a single span. No
 * message is valid in both formats: a batch with a different order of fields would be rejected, not
 * misread. A bundle has several batches: see {@link #isBundle}.
 *
 * <p>Dimensions are looked up once for each dictionary entry that is used as a key, not for each
 * span. Nothing is allocated after the arrays have grown to the largest batch. One owner thread.
 */
public final class BatchDecoder implements MessageDecoder {
  /**
   * Value of a dimension that a group lacks because the demand by which agents made it did not
   * contain the attribute.
   */
  public static final String NOT_SENT = "__not_sent__";

  private static final byte[] NOT_SENT_BYTES = NOT_SENT.getBytes(UTF_8);

  /** Dictionary entry that was not looked up as a key. */
  private static final int NOT_LOOKED_UP = -2;

  /** Header of field 1, a 32-bit number: the format's version is first in a batch. */
  private static final byte BATCH_BEGINS = 0x15;

  /** Null if all applications have the same rules. */
  private final SpanRulesCache rulesOf;

  /** Whether events are counted. */
  private final boolean countsEvents;

  private final Messages messages;
  private final SpanBatchReader reader = new SpanBatchReader();
  private final BundleReader bundle = new BundleReader();
  private final Texts texts = new Texts();
  private final InflatedBody inflated = new InflatedBody();

  /** Null if there are only batches. */
  private final SingleSpan span;

  private final SpanColumns columns = new SpanColumns();

  // Of the last message

  private SpanRules rules;

  /** The keys of these rules. */
  private DimensionKeys dimensions;

  /** Whether to copy attributes to dimensions. A mapping sets dimensions itself. */
  private boolean copiesDimensions;

  /** Values of the dimensions that a span lacks; longer if earlier rules had more. */
  private int[] inherited = {};

  /** Values of the dimensions that a group lacks, if {@link #groupsLack}. */
  private int[] inheritedByGroups = {};

  /** Whether groups may lack a dimension that the resource cannot replace. */
  private boolean groupsLack;

  /** Whether that dimension, or one of them, is a label. */
  private boolean groupsLackLabel;

  /** The text of a value that was not sent; {@link SpanColumns#NONE} if groups have all columns. */
  private int notSent = SpanColumns.NONE;

  /** First text of the labels' names, which follow each other. */
  private int firstLabel;

  /** First of the texts of measures, which follow each other. */
  private int firstMeasureText;

  /** Null if series consist of attributes without a mapping. */
  private final SpanMapping mapping;

  /** By dictionary index: the dimension whose key is the entry. */
  private int[] dimensionOf = new int[256];

  /** Whether the last message is a batch, not a single span. */
  private boolean isBatch = true;

  /** The only application whose spans are decoded, in UTF-8; null for all. */
  private byte[] selected;

  /** Whether spans without the name of an application belong to the selected one. */
  private boolean selectsUnnamed;

  private boolean isSkipped;

  /** Whether only samples are decoded. */
  private boolean selectsSample;

  /**
   * @param mapping null if series consist of attributes without a mapping
   * @param messages the message formats
   */
  public BatchDecoder(SpanRules rules, SpanMapping mapping, Messages messages) {
    this(rules, null, mapping, messages);
  }

  /**
   * @param inForce called for each message; never waits
   * @param maxNameBytes length to which names of applications are cut
   * @param seed of hashes; random
   * @param messages the message formats
   */
  public BatchDecoder(
      Supplier<SpanRulesInForce> inForce, int maxNameBytes, long seed, Messages messages) {
    this(inForce.get().others(), new SpanRulesCache(inForce, maxNameBytes, seed), null, messages);
  }

  private BatchDecoder(
      SpanRules rules, SpanRulesCache rulesOf, SpanMapping mapping, Messages messages) {
    this.rulesOf = rulesOf;
    this.mapping = mapping;
    countsEvents = mapping == null && rules.keys().eventName() >= 0;
    this.messages = messages;
    SpanFormat singles = messages.singles();
    span =
        singles == null ? null : singles.newReader(texts, mapping == null ? null : mapping.keys());
    use(rules);
  }

  private void use(SpanRules now) {
    rules = now;
    dimensions = now.keys();
    copiesDimensions = mapping == null && dimensions.ofSpans();
    if (inherited.length < dimensions.count()) {
      inherited = new int[dimensions.count()];
      inheritedByGroups = new int[dimensions.count()];
    }
    Arrays.fill(inherited, SpanColumns.NONE);
  }

  /** Begins the spans of a message whose application is known, by its rules. */
  private void begin() {
    SpanRules now = rulesOf == null ? rules : rulesOf.of(texts, application());
    if (now != rules) {
      use(now);
    }
    columns.clear(dimensions.count());
    firstLabel = texts.size();
    for (int label = 0; label < rules.labels().size(); label++) {
      byte[] name = rules.labels().get(label);
      texts.make(name, 0, name.length);
    }
    firstMeasureText = texts.size();
    for (int text = 0; text < rules.measures().texts().size(); text++) {
      byte[] bytes = rules.measures().texts().get(text);
      texts.make(bytes, 0, bytes.length);
    }
  }

  /**
   * Selects the only application whose spans are decoded from now on. Batches of other ones are
   * read up to their spans, and are then {@link #isSkipped skipped}.
   */
  public void select(String application) {
    selected = application.getBytes(UTF_8);
    selectsUnnamed = application.equals(Applications.UNNAMED);
  }

  /**
   * Decodes only samples from now on: of batches by a demand that lacked a dimension, the whole
   * copies of spans that are in groups, and nothing of others. For estimates only.
   */
  public void selectSample() {
    selectsSample = true;
  }

  @Override
  public boolean isSkipped() {
    return isSkipped;
  }

  /** Returns whether the message is certainly not one of the selected application. */
  private boolean isOfAnother(Rejection rejection) {
    if (selected == null) {
      return false;
    }
    int text = application();
    if (text < 0 && rejection != Rejection.NONE) {
      return false;
    }
    return text < 0 || texts.length(text) == 0
        ? !selectsUnnamed
        : !Arrays.equals(
            selected,
            0,
            selected.length,
            texts.buffer(text),
            texts.offset(text),
            texts.offset(text) + texts.length(text));
  }

  /**
   * {@inheritDoc}
   *
   * <p>After a rejection, {@link #application} is valid as well if it is at least 0.
   */
  @Override
  public Rejection decode(byte[] message, int offset, int length) {
    return decode(
        message,
        offset,
        length,
        span == null || messages.batches() && length > 0 && message[offset] == BATCH_BEGINS);
  }

  private Rejection decode(byte[] message, int offset, int length, boolean batch) {
    columns.clear(dimensions.count());
    notSent = SpanColumns.NONE;
    groupsLack = false;
    groupsLackLabel = false;
    isSkipped = false;
    isBatch = batch;
    Rejection rejection =
        isBatch ? decodeBatch(message, offset, length) : decodeSpan(message, offset, length);
    if (selectsSample && rejection == Rejection.NONE && !isSkipped) {
      return decodeSampleAlone();
    }
    if (mapping != null && rejection == Rejection.NONE && !isSkipped) {
      mapping.map(this);
    }
    return rejection;
  }

  private Rejection decodeSampleAlone() {
    if (groupsLack) {
      return decodeSample();
    }
    columns.clear(dimensions.count());
    columns.endSpans();
    return Rejection.NONE;
  }

  @Override
  public boolean isBundle(byte[] message) {
    return messages.batches() && BundleReader.begins(message, 0, message.length);
  }

  @Override
  public boolean isHeartbeat(byte[] message) {
    return messages.batches() && Heartbeat.begins(message);
  }

  @Override
  public BundleReader bundle() {
    return bundle;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A single span or a bundle in it is rejected, since it has no name.
   */
  @Override
  public Rejection decodeBundled(byte[] message, int part) {
    return decode(message, bundle.offset(part), bundle.length(part), true);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Only single spans may be compressed: agents do not compress batches.
   */
  @Override
  public Rejection decodeCompressed(byte[] body, int flags) {
    Rejection rejection = span == null ? Rejection.MALFORMED : inflated.inflate(body, flags);
    if (rejection == Rejection.NONE) {
      rejection = decode(inflated.bytes(), 0, inflated.length());
      if (!isBatch) {
        return rejection;
      }
      rejection = Rejection.MALFORMED;
    }
    // Nothing in it is known.
    decode(body, 0, 0);
    return rejection;
  }

  private Rejection decodeSpan(byte[] message, int offset, int length) {
    Rejection rejection = span.read(message, offset, length);
    isSkipped = rejection == Rejection.NONE && isOfAnother(rejection);
    if (rejection != Rejection.NONE || isSkipped) {
      return rejection;
    }
    begin();
    if (copiesDimensions) {
      inherit();
    }
    columns.add(span, inherited);
    if (copiesDimensions) {
      int[] attributes = span.attributes();
      for (int i = 0; i < span.attributeCount(); i++) {
        int dimension = find(dimensions.ofSpan(), attributes[2 * i]);
        if (dimension != AttributeKeys.NONE) {
          columns.setDimension(dimension, attributes[2 * i + 1]);
        }
      }
    }
    return Rejection.NONE;
  }

  private Rejection decodeBatch(byte[] message, int offset, int length) {
    Rejection rejection = reader.wrap(message, offset, length);
    // A rejected batch may also have an application.
    texts.begin(reader);
    isSkipped = isOfAnother(rejection);
    if (rejection != Rejection.NONE || isSkipped) {
      return rejection;
    }
    begin();
    int entries = texts.size();
    if (dimensionOf.length < entries) {
      dimensionOf = new int[Math.max(entries, dimensionOf.length * 2)];
    }
    Arrays.fill(dimensionOf, 0, entries, NOT_LOOKED_UP);
    if (copiesDimensions) {
      inherit();
    }
    while (reader.next()) {
      columns.add(reader, inherited);
      addDimensionsAndEvents();
    }
    if (byDemand() && copiesDimensions) {
      inheritByGroups();
    }
    int[] ofGroups = groupsLack ? inheritedByGroups : inherited;
    while (reader.nextGroup()) {
      columns.addGroup(reader, ofGroups);
      addDimensionsAndEvents();
    }
    columns.endSpans();
    return reader.rejection();
  }

  /**
   * Replaces the columns by the samples of the last message: whole copies of spans that are in its
   * groups and count there. For estimates only.
   *
   * @return {@link Rejection#NONE}, or why the sample is not valid
   */
  public Rejection decodeSample() {
    columns.clear(dimensions.count());
    while (isBatch && reader.nextSample()) {
      columns.add(reader, inherited);
      addDimensionsAndEvents();
    }
    columns.endSpans();
    if (mapping != null && reader.rejection() == Rejection.NONE) {
      mapping.map(this);
    }
    return reader.rejection();
  }

  private void addDimensionsAndEvents() {
    if (copiesDimensions) {
      addDimensions();
    }
    if (countsEvents && reader.eventNumbers() > 0) {
      addEvents();
    }
  }

  private void inherit() {
    Arrays.fill(inherited, SpanColumns.NONE);
    for (int i = 0; i < resourceAttributeCount(); i++) {
      int dimension = find(dimensions.ofResource(), resourceAttributeKey(i));
      if (dimension != AttributeKeys.NONE) {
        inherited[dimension] = resourceAttributeValue(i);
      }
    }
  }

  /** Determines what groups by a demand lack, which the resource cannot replace. */
  private void inheritByGroups() {
    System.arraycopy(inherited, 0, inheritedByGroups, 0, dimensions.count());
    long sent = groupDimensions();
    for (int dimension = 0; dimension < dimensions.count(); dimension++) {
      if (dimensions.ofSpan().key(dimension) != null && (sent >>> dimension & 1) == 0) {
        groupsLack = true;
        inheritedByGroups[dimension] = lacked(dimension);
      }
    }
  }

  /** Returns the value of a dimension that groups lack: a series without a label names none. */
  private int lacked(int dimension) {
    if (dimension >= rules.columns()) {
      groupsLackLabel = true;
      return SpanColumns.NONE;
    }
    if (notSent == SpanColumns.NONE) {
      notSent = texts.make(NOT_SENT_BYTES, 0, NOT_SENT_BYTES.length);
    }
    return notSent;
  }

  /** Returns the dimensions that groups have, as bits: 32 columns and 32 labels at most. */
  private long groupDimensions() {
    long sent = 0;
    for (int i = 0; i < reader.groupKeyCount(); i++) {
      int dimension = find(dimensions.ofSpan(), reader.groupKey(i));
      if (dimension != AttributeKeys.NONE) {
        sent |= 1L << dimension;
      }
    }
    return sent;
  }

  private void addDimensions() {
    int[] attributes = reader.attributes();
    int ints = reader.attributeCount() * 2;
    for (int i = 0; i < ints; i += 2) {
      int key = attributes[i];
      int dimension = dimensionOf[key];
      if (dimension == NOT_LOOKED_UP) {
        dimension = find(dimensions.ofSpan(), key);
        dimensionOf[key] = dimension;
      }
      if (dimension != AttributeKeys.NONE) {
        columns.setDimension(dimension, attributes[i + 1]);
      }
    }
  }

  private void addEvents() {
    int[] events = reader.events();
    int at = 0;
    while (at < reader.eventNumbers()) {
      columns.addEvent(dimensions.eventName(), events[at]);
      int end = at + 2 + 2 * events[at + 1];
      for (at += 2; at < end; at += 2) {
        int dimension = find(dimensions.ofEvent(), events[at]);
        if (dimension != AttributeKeys.NONE) {
          columns.setEventDimension(dimension, events[at + 1]);
        }
      }
    }
  }

  private int find(AttributeKeys keys, int entry) {
    return keys.find(texts.buffer(entry), texts.offset(entry), texts.length(entry));
  }

  /** {@inheritDoc} It is 1 for a possible single span. */
  @Override
  public int declaredSpans() {
    return isBatch ? reader.spanCount() : 1;
  }

  /** Returns the text of the message's application, or less than 0 without one. */
  public int application() {
    return isBatch ? reader.application() : span.application();
  }

  /** Returns whether the batch has groups that a demand made; they may lack attributes. */
  public boolean byDemand() {
    return isBatch && reader.demand() > 0;
  }

  /** Returns the rules of the message's application. */
  public SpanRules rules() {
    return rules;
  }

  /** Returns the text of a label's name. */
  public int label(int dimension) {
    return firstLabel + dimension - rules.columns();
  }

  /**
   * Returns a text of the rules' measures.
   *
   * @param number among {@link SpanMeasures#texts}
   */
  int measureText(int number) {
    return firstMeasureText + number;
  }

  /** Returns how many attributes of spans groups have, if a demand made them. */
  int groupKeyCount() {
    return reader.groupKeyCount();
  }

  /** Returns the text of a key that groups have, if a demand made them. */
  int groupKey(int i) {
    return reader.groupKey(i);
  }

  /** Returns whether groups may lack a label because of their demand. */
  public boolean groupsLackLabel() {
    return groupsLackLabel;
  }

  /** Returns whether a group may lack a column because of its demand. */
  public boolean lacksDimension(int group) {
    if (mapping != null) {
      return byDemand();
    }
    for (int dimension = 0;
        notSent != SpanColumns.NONE && dimension < rules.columns();
        dimension++) {
      if (lacks(group, dimension)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a group or its event lacks this dimension because of the demand. */
  public boolean lacks(int entry, int dimension) {
    return notSent != SpanColumns.NONE && columns.dimension(entry, dimension) == notSent;
  }

  /**
   * Returns the bytes of a span, or of all spans of a group, as the agent received them; 0 if they
   * are unknown.
   */
  public long size(int entry) {
    return isBatch && reader.hasSizes() ? reader.size(entry) : 0;
  }

  /** {@inheritDoc} A single span has none. */
  @Override
  public boolean isNamed() {
    return isBatch;
  }

  @Override
  public long agentHigh() {
    return reader.agentHigh();
  }

  @Override
  public long agentLow() {
    return reader.agentLow();
  }

  @Override
  public long epoch() {
    return reader.epoch();
  }

  @Override
  public long sequence() {
    return reader.sequence();
  }

  public int resourceAttributeCount() {
    return isBatch ? reader.resourceAttributeCount() : span.resourceAttributeCount();
  }

  /** Returns the text of a resource attribute's key. */
  public int resourceAttributeKey(int i) {
    return isBatch ? reader.resourceAttributeKey(i) : span.resource()[2 * i];
  }

  /** Returns the text of a resource attribute's value. */
  public int resourceAttributeValue(int i) {
    return isBatch ? reader.resourceAttributeValue(i) : span.resource()[2 * i + 1];
  }

  /** Returns the strings to which all numbers of texts refer. */
  public Texts texts() {
    return texts;
  }

  /** Returns the batch's spans, groups and events. */
  public SpanColumns columns() {
    return columns;
  }

  /** Returns a text, cut to the given number of bytes. Allocates: for documents. */
  public String text(int text, int maxBytes) {
    byte[] buffer = texts.buffer(text);
    int offset = texts.offset(text);
    int length = Utf8.cut(buffer, offset, texts.length(text), maxBytes);
    return new String(buffer, offset, length, UTF_8);
  }

  /** Returns the attributes of a span's document, from the keys or the mapping. Allocates. */
  public Map<String, String> documentAttributes(AttributeKeys keys, int span, int maxBytes) {
    return mapping == null
        ? attributes(keys, span, maxBytes)
        : mapping.documentAttributes(this, span, maxBytes);
  }

  /**
   * Returns the attributes with the given keys that the span or its resource has, with values cut
   * to the given number of bytes. The span has precedence. Allocates: for documents.
   */
  public Map<String, String> attributes(AttributeKeys keys, int span, int maxBytes) {
    Map<String, String> found = new HashMap<>();
    for (int i = 0; i < columns.attributeCount(span); i++) {
      int number = find(keys, columns.attributeKey(span, i));
      if (number != AttributeKeys.NONE) {
        found.put(keys.key(number), text(columns.attributeValue(span, i), maxBytes));
      }
    }
    for (int i = 0; i < resourceAttributeCount(); i++) {
      int number = find(keys, resourceAttributeKey(i));
      if (number != AttributeKeys.NONE) {
        found.putIfAbsent(keys.key(number), text(resourceAttributeValue(i), maxBytes));
      }
    }
    return Map.copyOf(found);
  }
}
