package org.traceetl.server.decode;

import java.util.Arrays;
import java.util.List;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.window.Buckets;

/**
 * Finds which measures a span or group of the decoder's batch has, and their values and labels.
 * Each text is looked up as a key, and read as a number, at most once for each batch. Nothing is
 * allocated after the arrays have grown. One owner thread, that of the decoder.
 */
public final class MeasuredSpans {
  /** What becomes of a span in a measure. The value is at least 0 otherwise. */
  public static final long NO_MATCH = -10;

  /** The agent sent no attribute that decides whether the span matches, as a demand lacks it. */
  public static final long NOT_SENT = -11;

  /** The attribute's value is no number. */
  public static final long NOT_A_NUMBER = Millionths.NOT_A_NUMBER;

  /** The attribute's value is below 0. */
  public static final long NEGATIVE = Millionths.NEGATIVE;

  /** The attribute's value is above {@link Millionths#MAX_UNITS}. */
  public static final long TOO_LARGE = Millionths.TOO_LARGE;

  private static final long NOT_READ = Long.MIN_VALUE;
  private static final int STATUS_ERROR = 2;

  /** Added to the measures of a name: the name was matched with them. */
  private static final long MATCHED = Long.MIN_VALUE;

  private static final int NOT_LOOKED_UP = -2;

  private final BatchDecoder decoder;

  // Of the batch

  private SpanMeasures measures = SpanMeasures.NONE;

  /** By text: the attribute of spans with this key. */
  private int[] attributeOf = new int[256];

  /** By text: its millionths. */
  private long[] valueOf = new long[256];

  /** By text of a name: the measures whose operation it is, as bits; 0 if it was not matched. */
  private long[] measuresOf = new long[256];

  /** By attribute of resources: the text of its value. */
  private int[] ofResource = {};

  /** By attribute of spans: whether groups have it. */
  private boolean[] sent = {};

  // Of the entry

  /** By attribute of spans: the text of its value. */
  private int[] ofSpan = {};

  private boolean isGroup;
  private int kind;
  private boolean isFailed;

  /** Text of the name. */
  private int name;

  public MeasuredSpans(BatchDecoder decoder) {
    this.decoder = decoder;
  }

  /** Begins a batch. Returns whether its application has measures. */
  public boolean begin() {
    measures = decoder.rules().measures();
    if (measures.isEmpty()) {
      return false;
    }
    int texts = decoder.texts().size();
    if (attributeOf.length < texts) {
      attributeOf = new int[Math.max(texts, attributeOf.length * 2)];
      valueOf = new long[attributeOf.length];
      measuresOf = new long[attributeOf.length];
    }
    Arrays.fill(measuresOf, 0, texts, 0);
    Arrays.fill(attributeOf, 0, texts, NOT_LOOKED_UP);
    Arrays.fill(valueOf, 0, texts, NOT_READ);
    AttributeKeys spans = measures.ofSpan();
    if (ofSpan.length < spans.size()) {
      ofSpan = new int[spans.size()];
      sent = new boolean[spans.size()];
    }
    AttributeKeys resources = measures.ofResource();
    if (ofResource.length < resources.size()) {
      ofResource = new int[resources.size()];
    }
    Arrays.fill(ofResource, SpanColumns.NONE);
    for (int i = 0; i < decoder.resourceAttributeCount(); i++) {
      int attribute = find(resources, decoder.resourceAttributeKey(i));
      if (attribute != AttributeKeys.NONE) {
        ofResource[attribute] = decoder.resourceAttributeValue(i);
      }
    }
    Arrays.fill(sent, !decoder.byDemand());
    for (int i = 0; decoder.byDemand() && i < decoder.groupKeyCount(); i++) {
      int attribute = attribute(decoder.groupKey(i));
      if (attribute != AttributeKeys.NONE) {
        sent[attribute] = true;
      }
    }
    return true;
  }

  private int find(AttributeKeys keys, int text) {
    Texts texts = decoder.texts();
    return keys.find(texts.buffer(text), texts.offset(text), texts.length(text));
  }

  /** Returns the attribute of spans with this key, or {@link AttributeKeys#NONE}. */
  private int attribute(int key) {
    int attribute = attributeOf[key];
    if (attribute == NOT_LOOKED_UP) {
      attribute = find(measures.ofSpan(), key);
      attributeOf[key] = attribute;
    }
    return attribute;
  }

  /**
   * Reads the attributes of a span or group.
   *
   * @return whether any measure may match
   */
  public boolean read(int entry) {
    SpanColumns spans = decoder.columns();
    kind = spans.kind(entry);
    if (!measures.hasKind(kind)) {
      return false;
    }
    isFailed = spans.status(entry) == STATUS_ERROR;
    name = spans.name(entry);
    isGroup = entry >= spans.firstGroup();
    Arrays.fill(ofSpan, SpanColumns.NONE);
    int count = spans.attributeCount(entry);
    for (int i = 0; i < count; i++) {
      int attribute = attribute(spans.attributeKey(entry, i));
      if (attribute != AttributeKeys.NONE) {
        ofSpan[attribute] = spans.attributeValue(entry, i);
      }
    }
    return true;
  }

  /**
   * Returns whether measures need the name in series of the entry: {@link #name(byte[], int, int)}.
   */
  public boolean needsName() {
    return measures.hasOperations() && measuresOf[name] == 0;
  }

  /**
   * Matches the name of the entry in series, once for each text of the batch and each objective.
   *
   * @param length in series; it bounds the time that a pattern takes
   */
  public void name(byte[] bytes, int offset, int length) {
    long matching = MATCHED;
    WildcardPattern before = null;
    boolean matches = true;
    for (int i = 0; i < measures.measures().size(); i++) {
      WildcardPattern operation = measures.measures().get(i).operation();
      // Both measures of an objective have its pattern.
      if (operation != before) {
        before = operation;
        matches = operation == null || operation.matches(bytes, offset, length);
      }
      if (matches) {
        matching |= 1L << i;
      }
    }
    measuresOf[name] = matching;
  }

  /** Returns the number of measures of the batch's application. */
  public int measures() {
    return measures.measures().size();
  }

  public MeasureConfig config(int measure) {
    return measures.measures().get(measure).config();
  }

  /**
   * Returns the value that each span of the entry adds, except for a duration and {@link
   * #goodNanos}.
   *
   * @return at least 0, in {@link MeasureConfig#parts}; 0 for durations; or {@link #NO_MATCH},
   *     {@link #NOT_SENT}, {@link #NOT_A_NUMBER}, {@link #NEGATIVE} or {@link #TOO_LARGE}
   */
  public long value(int measure) {
    SpanMeasures.Measure one = measures.measures().get(measure);
    if ((one.kinds() >>> kind & 1) == 0
        || one.operation() != null && (measuresOf[name] >>> measure & 1) == 0) {
      return NO_MATCH;
    }
    boolean lacks = false;
    List<Integer> required = one.required();
    for (int i = 0; i < required.size(); i++) {
      int attribute = required.get(i);
      if (ofSpan[attribute] == SpanColumns.NONE) {
        if (!isLacked(attribute)) {
          return NO_MATCH;
        }
        lacks = true;
      }
    }
    if (lacks) {
      return NOT_SENT;
    }
    return switch (one.config().value()) {
      case DURATION -> 0;
      case ONE -> isFailed && one.goodNanos() != SpanMeasures.ABSENT ? 0 : MeasureConfig.PARTS;
      case ATTRIBUTE -> number(ofSpan[one.value()]);
    };
  }

  /** Returns the duration from which on a span adds 0 to a measure. */
  public long goodNanos(int measure) {
    long nanos = measures.measures().get(measure).goodNanos();
    return nanos == SpanMeasures.ABSENT ? Long.MAX_VALUE : nanos;
  }

  private long number(int text) {
    long value = valueOf[text];
    if (value == NOT_READ) {
      Texts texts = decoder.texts();
      value = Millionths.of(texts.buffer(text), texts.offset(text), texts.length(text));
      valueOf[text] = value;
    }
    return value;
  }

  /** Returns the buckets of a measure's values. */
  public Buckets buckets(int measure) {
    return measures.measures().get(measure).buckets();
  }

  /** Returns the text of a measure's name. */
  public int name(int measure) {
    return decoder.measureText(measures.measures().get(measure).name());
  }

  /**
   * Returns the number of labels that a series of a measure may have.
   *
   * @param overflow whether it is the overflow series
   */
  public int labels(int measure, boolean overflow) {
    return all(measure, overflow).size();
  }

  private List<SpanMeasures.Label> all(int measure, boolean overflow) {
    SpanMeasures.Measure one = measures.measures().get(measure);
    return overflow ? one.overflow() : one.labels();
  }

  /** Returns the labels of a measure's overflow series, name and value in turn. */
  public List<String> overflowLabels(int measure) {
    return measures.measures().get(measure).overflowTexts();
  }

  /** Returns the text of a label's name; labels ascend by it. */
  public int label(int measure, boolean overflow, int label) {
    return decoder.measureText(all(measure, overflow).get(label).name());
  }

  /** Returns the text of a label's value of the entry, or {@link SpanColumns#NONE}. */
  public int labelValue(int measure, boolean overflow, int label) {
    SpanMeasures.Label one = all(measure, overflow).get(label);
    if (one.constant() != SpanMeasures.ABSENT) {
      return decoder.measureText(one.constant());
    }
    int value = one.ofSpan() == SpanMeasures.ABSENT ? SpanColumns.NONE : ofSpan[one.ofSpan()];
    // The resource cannot replace an attribute that the span may have had.
    return value == SpanColumns.NONE
            && one.ofResource() != SpanMeasures.ABSENT
            && !isLacked(one.ofSpan())
        ? ofResource[one.ofResource()]
        : value;
  }

  /** Returns whether the entry may have had an attribute that the agent did not send. */
  private boolean isLacked(int attribute) {
    return isGroup && attribute != SpanMeasures.ABSENT && !sent[attribute];
  }

  /** Returns whether the entry may lack a label of a measure, because a demand lacks it. */
  public boolean lacksLabel(int measure) {
    List<SpanMeasures.Label> labels = measures.measures().get(measure).labels();
    for (int i = 0; isGroup && i < labels.size(); i++) {
      if (isLacked(labels.get(i).ofSpan())) {
        return true;
      }
    }
    return false;
  }
}
