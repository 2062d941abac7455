package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Locale;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.common.WildcardPattern;
import org.traceetl.proto.Limits;

/**
 * Applies filters to spans and resources, and counts its changes. Its results are reused objects
 * that share the texts of the input. Confined to one thread.
 *
 * <p>Rules see the span as received. If it is sent, attributes that are not allowed are removed
 * first. Then texts are redacted, then cut, so a cut leaves no half of a redacted part. Only a
 * redaction whose pattern may match allocates.
 */
public final class AgentSpanFilter {
  /** The outcome for a span. */
  public enum Verdict {
    /** The span is sent. */
    KEPT,
    /** Only its count and duration are sent, and the attributes that the rule names. */
    MEASURED,
    /** A rule drops the span. */
    DROPPED,
    /** The span is not in the sample; other spans represent it. */
    SAMPLED_OUT
  }

  /** A change to a span or resource that is sent. */
  public enum Change {
    ATTRIBUTE_NOT_ALLOWED,
    ATTRIBUTE_ABOVE_LIMIT,
    VALUE_REDACTED,
    NAME_REDACTED,
    STATUS_MESSAGE_REDACTED,
    VALUE_CUT,
    NAME_CUT,
    STATUS_MESSAGE_CUT;

    /** The metric label. */
    public final String label = name().toLowerCase(Locale.ROOT);
  }

  private static final byte[] SERVICE_NAME = "service.name".getBytes(UTF_8);
  private static final byte[] NOTHING = new byte[0];

  private final SpanView made = new SpanView();
  private final Attributes madeResource = new Attributes();
  private final Attributes madeWhole = new Attributes();
  private final long[] changes = new long[Change.values().length];
  // The counts before the last span.
  private final long[] changesBefore = new long[Change.values().length];
  private SpanView result;
  // The current text.
  private byte[] text = NOTHING;
  private int textOffset;
  private int textLength;
  private boolean textIsCut;

  /** Filters a span. If it is kept or measured, {@link #span} returns the result. */
  public Verdict apply(ApplicationFilters filters, SpanView span) {
    DropRule drop = filters.dropRule(span);
    if (drop != null) {
      if (!drop.measured) {
        return Verdict.DROPPED;
      }
      make(filters, span, span.samplingThreshold, drop.dimensions, false);
      return Verdict.MEASURED;
    }
    long threshold = span.samplingThreshold;
    if (filters.sample != null) {
      threshold = filters.sample.threshold(span);
      if (!span.isSampledAt(threshold)) {
        return Verdict.SAMPLED_OUT;
      }
    }
    if (threshold == span.samplingThreshold && !filters.areChanging()) {
      result = span;
      remember();
    } else {
      make(filters, span, threshold, filters.spanKeys, true);
    }
    return Verdict.KEPT;
  }

  /** Returns the filtered last span. Valid while the input is valid, and until the next call. */
  public SpanView span() {
    return result;
  }

  private void remember() {
    System.arraycopy(changes, 0, changesBefore, 0, changes.length);
  }

  /** Takes back the counts of the last span that was kept or measured. */
  public void undo() {
    System.arraycopy(changesBefore, 0, changes, 0, changes.length);
  }

  /**
   * Returns the attributes that a measured span would have if it was kept. Counts nothing. No
   * {@link #undo} may follow.
   *
   * @return valid while the input is valid, and until the next call
   */
  public Attributes wholeAttributes(ApplicationFilters filters, SpanView span) {
    remember();
    attributes(filters, span.attributes, filters.spanKeys, false, false, madeWhole);
    undo();
    return madeWhole;
  }

  private void make(
      ApplicationFilters filters,
      SpanView span,
      long threshold,
      WildcardPattern[] keys,
      boolean whole) {
    remember();
    result = made;
    made.traceIdHigh = span.traceIdHigh;
    made.traceIdLow = span.traceIdLow;
    made.spanId = span.spanId;
    made.parentSpanId = span.parentSpanId;
    made.kind = span.kind;
    made.status = span.status;
    made.startUnixNanos = span.startUnixNanos;
    made.durationNanos = span.durationNanos;
    made.samplingThreshold = threshold;
    made.randomness = span.randomness;
    made.sizeBytes = span.sizeBytes;
    made.dictionary = span.dictionary;
    made.links = span.links;

    look(span.name, span.nameOffset, span.nameLength);
    redact(filters.names, Change.NAME_REDACTED);
    cut(filters.limits.nameBytes(), Change.NAME_CUT);
    made.name = text;
    made.nameOffset = textOffset;
    made.nameLength = textLength;

    if (whole) {
      look(span.statusMessage, span.statusMessageOffset, span.statusMessageLength);
      redact(filters.statusMessages, Change.STATUS_MESSAGE_REDACTED);
      cut(filters.limits.statusMessageBytes(), Change.STATUS_MESSAGE_CUT);
    } else {
      look(NOTHING, 0, 0);
    }
    made.statusMessage = text;
    made.statusMessageOffset = textOffset;
    made.statusMessageLength = textLength;

    if (whole && filters.spanKeys != null) {
      changes[Change.ATTRIBUTE_NOT_ALLOWED.ordinal()] += span.attributesNotWanted;
    }
    attributes(filters, span.attributes, keys, whole, false, made.attributes);
    events(filters, span.events);
    made.eventsLeftOut = span.eventsLeftOut;
  }

  /** Redacts and cuts events like spans; their attributes were already selected. */
  private void events(ApplicationFilters filters, SpanEvents from) {
    made.events.clear();
    Attributes attributes = from.attributes();
    for (int event = 0; event < from.size(); event++) {
      look(from.name(event), from.nameOffset(event), from.nameLength(event));
      redact(filters.names, Change.NAME_REDACTED);
      cut(filters.limits.nameBytes(), Change.NAME_CUT);
      made.events.add(text, textOffset, textLength);
      for (int i = from.firstAttribute(event); i < from.firstAttribute(event + 1); i++) {
        byte[] key = attributes.key(i);
        int keyOffset = attributes.keyOffset(i);
        int keyLength = attributes.keyLength(i);
        look(attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i));
        redactValue(filters.values, key, keyOffset, keyLength);
        cut(filters.limits.valueBytes(), Change.VALUE_CUT);
        made.events.addAttribute(key, keyOffset, keyLength, text, textOffset, textLength);
      }
    }
  }

  /**
   * Returns the filtered attributes of a resource. {@code service.name} always remains: it may only
   * be redacted, and cut to the limit of a batch.
   *
   * @return valid while the input is valid, and until the next call
   */
  public Attributes resource(ApplicationFilters filters, Attributes attributes) {
    attributes(filters, attributes, filters.resourceKeys, true, true, madeResource);
    return madeResource;
  }

  private void attributes(
      ApplicationFilters filters,
      Attributes from,
      WildcardPattern[] keys,
      boolean countsLeftOut,
      boolean ofResource,
      Attributes to) {
    to.clear();
    int service = ofResource ? from.find(SERVICE_NAME) : -1;
    int most = filters.limits.attributes() + (service < 0 ? 0 : 1);
    for (int i = 0; i < from.size(); i++) {
      byte[] key = from.key(i);
      int keyOffset = from.keyOffset(i);
      int keyLength = from.keyLength(i);
      if (i != service) {
        if (!WildcardPattern.anyMatches(keys, key, keyOffset, keyLength)) {
          count(Change.ATTRIBUTE_NOT_ALLOWED, countsLeftOut);
          continue;
        }
        if (to.size() >= (i < service ? most - 1 : most)) {
          count(Change.ATTRIBUTE_ABOVE_LIMIT, countsLeftOut);
          continue;
        }
      }
      look(from.value(i), from.valueOffset(i), from.valueLength(i));
      redactValue(filters.values, key, keyOffset, keyLength);
      cut(i == service ? Limits.MAX_STRING_BYTES : filters.limits.valueBytes(), Change.VALUE_CUT);
      to.add(key, keyOffset, keyLength, text, textOffset, textLength);
    }
  }

  private void look(byte[] bytes, int offset, int length) {
    text = bytes;
    textOffset = offset;
    textLength = length;
    textIsCut = false;
  }

  private void redact(Redactor[] redactors, Change change) {
    boolean redacted = false;
    for (Redactor redactor : redactors) {
      redacted |= redact(redactor);
    }
    count(change, redacted);
  }

  private void redactValue(Redactor[] redactors, byte[] key, int keyOffset, int keyLength) {
    boolean redacted = false;
    for (Redactor redactor : redactors) {
      redacted |= redactor.isFor(key, keyOffset, keyLength) && redact(redactor);
    }
    count(Change.VALUE_REDACTED, redacted);
  }

  private boolean redact(Redactor redactor) {
    if (textLength > Limits.MAX_STRING_BYTES) {
      // A batch cannot hold more, so the rest is not searched.
      textLength = kept(Limits.MAX_STRING_BYTES);
      textIsCut = true;
    }
    Redactor.Redacted redacted =
        redactor.redact(text, textOffset, textLength, Limits.MAX_STRING_BYTES);
    if (redacted == null) {
      return false;
    }
    text = redacted.text();
    textOffset = 0;
    textLength = text.length;
    textIsCut |= !redacted.whole();
    return true;
  }

  /** Cuts the current text, and counts it once even if it was cut before. */
  private void cut(int mostBytes, Change change) {
    if (textLength > mostBytes) {
      textLength = kept(mostBytes);
      textIsCut = true;
    }
    count(change, textIsCut);
  }

  /** Returns the bytes of the whole characters of the current text within the limit. */
  private int kept(int mostBytes) {
    int kept = mostBytes;
    // A character has up to four bytes; each after the first begins with the bits 10.
    while (kept > 0 && kept > mostBytes - 3 && (text[textOffset + kept] & 0xc0) == 0x80) {
      kept--;
    }
    return kept;
  }

  private void count(Change change, boolean happened) {
    if (happened) {
      changes[change.ordinal()]++;
    }
  }

  /** Returns and resets the count of a change. */
  public long take(Change change) {
    long count = changes[change.ordinal()];
    changes[change.ordinal()] = 0;
    return count;
  }

  /** Releases all texts of spans and resources. */
  public void forget() {
    result = null;
    look(NOTHING, 0, 0);
    made.name = NOTHING;
    made.statusMessage = NOTHING;
    made.dictionary = null;
    made.attributes.forget();
    made.events.forget();
    madeResource.forget();
    madeWhole.forget();
  }
}
