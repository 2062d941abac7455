package org.traceetl.server.decode;

import java.util.Arrays;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.series.SeriesTable;

/**
 * The spans of one batch, with a column for each of their parts. Strings are numbers of {@link
 * Texts}. The columns grow to the largest batch, which the format limits. One owner thread; valid
 * until the next batch is decoded.
 *
 * <p>Entries from {@link #firstGroup} on are groups of spans: they have everything that identifies
 * a series, and a list of durations instead of identity, start, duration and message. Entries from
 * {@link #firstEvent} on are counted events: each equals its span or group except for its kind and
 * its own dimensions.
 */
public final class SpanColumns {
  /** The value is absent. */
  public static final int NONE = -1;

  private static final int INITIAL_SPANS = 512;

  /** Dimensions of a span of this batch. */
  private int dimensions;

  private int size;
  private long[] traceIdHighs = new long[INITIAL_SPANS];
  private long[] traceIdLows = new long[INITIAL_SPANS];
  private long[] spanIds = new long[INITIAL_SPANS];
  private long[] startsUnixNanos = new long[INITIAL_SPANS];
  private long[] durationsNanos = new long[INITIAL_SPANS];
  private long[] samplingThresholds = new long[INITIAL_SPANS];
  private int[] names = new int[INITIAL_SPANS];
  private byte[] kinds = new byte[INITIAL_SPANS];
  private byte[] statuses = new byte[INITIAL_SPANS];
  private int[] kindsAndStatuses = new int[INITIAL_SPANS];
  private int[] statusMessages = new int[INITIAL_SPANS];

  /** Values of span i's dimensions, from {@code i * dimensions} on. */
  private int[] dimensionValues = {};

  /** Keys and values of span i's attributes in {@code [attributeStarts[i], [i + 1])}. */
  private int[] attributes = new int[INITIAL_SPANS * 16];

  private int[] attributeStarts = new int[INITIAL_SPANS + 1];

  private int groups;

  /** Durations of group g, from 0, in {@code [groupStarts[g], groupEnds[g])}. */
  private long[] groupDurationsNanos = new long[INITIAL_SPANS];

  private int groupDurations;
  private int[] groupStarts = new int[16];
  private int[] groupEnds = new int[16];
  private long[] groupPairs = new long[16];

  /** Events that are entries; after {@link #endSpans}, all events. */
  private int events;

  /** All added events: they become entries after all spans and groups. */
  private int eventsAdded;

  /** By event: its span or group. */
  private int[] eventParents = new int[16];

  /** Values of event i's dimensions, including the span's, from {@code i * dimensions} on. */
  private int[] eventDimensionValues = {};

  /**
   * Removes all spans.
   *
   * @param dimensions number of dimensions of a span from now on
   */
  void clear(int dimensions) {
    this.dimensions = dimensions;
    if (dimensionValues.length < names.length * dimensions) {
      dimensionValues = new int[names.length * dimensions];
    }
    if (eventDimensionValues.length < eventParents.length * dimensions) {
      eventDimensionValues = new int[eventParents.length * dimensions];
    }
    size = 0;
    groups = 0;
    groupDurations = 0;
    events = 0;
    eventsAdded = 0;
  }

  /**
   * Adds the span at the reader's cursor.
   *
   * @param inherited values of the dimensions that the span lacks
   */
  void add(SpanBatchReader span, int[] inherited) {
    int i = begin();
    traceIdHighs[i] = span.traceIdHigh();
    traceIdLows[i] = span.traceIdLow();
    spanIds[i] = span.spanId();
    startsUnixNanos[i] = span.startUnixNanos();
    durationsNanos[i] = span.durationNanos();
    samplingThresholds[i] = span.samplingThreshold();
    names[i] = span.name();
    kinds[i] = (byte) span.kind();
    statuses[i] = (byte) span.status();
    kindsAndStatuses[i] = SeriesTable.kindAndStatus(span.kind(), span.status());
    statusMessages[i] = span.statusMessage();
    end(span.attributes(), span.attributeCount(), inherited);
  }

  /**
   * Adds a span from a message with a single span.
   *
   * @param inherited values of the dimensions that the span lacks
   */
  void add(SingleSpan span, int[] inherited) {
    int i = begin();
    traceIdHighs[i] = span.traceIdHigh();
    traceIdLows[i] = span.traceIdLow();
    spanIds[i] = span.spanId();
    startsUnixNanos[i] = span.startUnixNanos();
    durationsNanos[i] = span.durationNanos();
    samplingThresholds[i] = 0;
    names[i] = span.name();
    kinds[i] = (byte) span.kind();
    statuses[i] = (byte) span.status();
    kindsAndStatuses[i] = SeriesTable.kindAndStatus(span.kind(), span.status());
    statusMessages[i] = NONE;
    end(span.attributes(), span.attributeCount(), inherited);
  }

  private int begin() {
    if (size == names.length) {
      grow(size * 2);
    }
    return size;
  }

  private void end(int[] pairs, int count, int[] inherited) {
    int start = attributeStarts[size];
    int end = start + 2 * count;
    if (end > attributes.length) {
      attributes = Arrays.copyOf(attributes, Math.max(end, attributes.length * 2));
    }
    System.arraycopy(pairs, 0, attributes, start, 2 * count);
    attributeStarts[size + 1] = end;
    System.arraycopy(inherited, 0, dimensionValues, size * dimensions, dimensions);
    size++;
  }

  /**
   * Adds the group at the reader's cursor. Call it after all spans were added.
   *
   * @param inherited values of the dimensions that the group lacks
   */
  void addGroup(SpanBatchReader group, int[] inherited) {
    add(group, inherited);
    int start = groupDurations;
    int end = start + group.groupSize();
    if (end > groupDurationsNanos.length) {
      groupDurationsNanos =
          Arrays.copyOf(groupDurationsNanos, Math.max(end, groupDurationsNanos.length * 2));
    }
    System.arraycopy(group.groupDurationsNanos(), 0, groupDurationsNanos, start, end - start);
    groupDurations = end;
    addGroup(start, end, group.groupPairs());
  }

  private void addGroup(int start, int end, long pairs) {
    if (groups == groupStarts.length) {
      groupStarts = Arrays.copyOf(groupStarts, groups * 2);
      groupEnds = Arrays.copyOf(groupEnds, groups * 2);
      groupPairs = Arrays.copyOf(groupPairs, groups * 2);
    }
    groupStarts[groups] = start;
    groupEnds[groups] = end;
    groupPairs[groups] = pairs;
    groups++;
  }

  /**
   * Adds an event of the last added span or group, whose dimensions must be complete.
   *
   * @param dimension the one for an event's name
   */
  void addEvent(int dimension, int name) {
    if (eventsAdded == eventParents.length) {
      eventParents = Arrays.copyOf(eventParents, eventsAdded * 2);
      eventDimensionValues = Arrays.copyOf(eventDimensionValues, eventParents.length * dimensions);
    }
    eventParents[eventsAdded] = size - 1;
    System.arraycopy(
        dimensionValues,
        (size - 1) * dimensions,
        eventDimensionValues,
        eventsAdded * dimensions,
        dimensions);
    eventsAdded++;
    setEventDimension(dimension, name);
  }

  /** Sets a dimension of the last added event. */
  void setEventDimension(int dimension, int value) {
    eventDimensionValues[(eventsAdded - 1) * dimensions + dimension] = value;
  }

  /** Ends the spans and groups: events become entries. */
  void endSpans() {
    while (events < eventsAdded) {
      int parent = eventParents[events];
      int entry = repeat(parent);
      System.arraycopy(
          eventDimensionValues,
          events * dimensions,
          dimensionValues,
          entry * dimensions,
          dimensions);
      kindsAndStatuses[entry] =
          SeriesTable.kindAndStatus(kinds[parent] | SeriesTable.OF_EVENTS, statuses[parent]);
      events++;
    }
  }

  /** Sets a dimension of the last added span or group. */
  void setDimension(int dimension, int value) {
    dimensionValues[(size - 1) * dimensions + dimension] = value;
  }

  /** Replaces a span's name, kind and status in its series. */
  public void setSeries(int span, int name, int kindAndStatus) {
    names[span] = name;
    kindsAndStatuses[span] = kindAndStatus;
  }

  /** Excludes a span: no series counts it. */
  public void leaveOut(int span) {
    kindsAndStatuses[span] = NONE;
  }

  /** Sets a dimension of a span; {@link #NONE} for none. */
  public void setDimension(int span, int dimension, int text) {
    dimensionValues[span * dimensions + dimension] = text;
  }

  /** Replaces the duration of a span. */
  public void setDurationNanos(int span, long nanos) {
    durationsNanos[span] = nanos;
  }

  /** Rounds the durations of a group down to multiples of a unit. */
  public void roundGroupDown(int group, long unitNanos) {
    int g = group - firstGroup();
    for (int i = groupStarts[g]; i < groupEnds[g]; i++) {
      groupDurationsNanos[i] -= groupDurationsNanos[i] % unitNanos;
    }
  }

  /**
   * Moves the spans of a group above a duration to a new group at the end, which equals the old one
   * without its attributes. The order within a group changes.
   *
   * @return the entry with these spans: the new one, the group itself if all of its spans are
   *     longer, {@link #NONE} if none is
   */
  public int splitGroup(int group, long aboveNanos) {
    int g = group - firstGroup();
    int from = groupStarts[g];
    int to = groupEnds[g];
    while (from < to) {
      long nanos = groupDurationsNanos[from];
      if (nanos > aboveNanos) {
        groupDurationsNanos[from] = groupDurationsNanos[--to];
        groupDurationsNanos[to] = nanos;
      } else {
        from++;
      }
    }
    if (from == groupEnds[g]) {
      return NONE;
    }
    if (from == groupStarts[g]) {
      return group;
    }
    addGroup(from, groupEnds[g], 0);
    groupEnds[g] = from;
    return repeat(group);
  }

  /** Adds a copy of an entry, without attributes. */
  private int repeat(int entry) {
    int i = begin();
    traceIdHighs[i] = traceIdHighs[entry];
    traceIdLows[i] = traceIdLows[entry];
    spanIds[i] = spanIds[entry];
    startsUnixNanos[i] = startsUnixNanos[entry];
    durationsNanos[i] = durationsNanos[entry];
    samplingThresholds[i] = samplingThresholds[entry];
    names[i] = names[entry];
    kinds[i] = kinds[entry];
    statuses[i] = statuses[entry];
    kindsAndStatuses[i] = kindsAndStatuses[entry];
    statusMessages[i] = statusMessages[entry];
    attributeStarts[i + 1] = attributeStarts[i];
    System.arraycopy(
        dimensionValues, entry * dimensions, dimensionValues, i * dimensions, dimensions);
    size = i + 1;
    return i;
  }

  private void grow(int capacity) {
    traceIdHighs = Arrays.copyOf(traceIdHighs, capacity);
    traceIdLows = Arrays.copyOf(traceIdLows, capacity);
    spanIds = Arrays.copyOf(spanIds, capacity);
    startsUnixNanos = Arrays.copyOf(startsUnixNanos, capacity);
    durationsNanos = Arrays.copyOf(durationsNanos, capacity);
    samplingThresholds = Arrays.copyOf(samplingThresholds, capacity);
    names = Arrays.copyOf(names, capacity);
    kinds = Arrays.copyOf(kinds, capacity);
    statuses = Arrays.copyOf(statuses, capacity);
    kindsAndStatuses = Arrays.copyOf(kindsAndStatuses, capacity);
    statusMessages = Arrays.copyOf(statusMessages, capacity);
    dimensionValues = Arrays.copyOf(dimensionValues, capacity * dimensions);
    attributeStarts = Arrays.copyOf(attributeStarts, capacity + 1);
  }

  /** Returns the number of entries: spans, then groups, then events. */
  public int size() {
    return size;
  }

  /** Returns the first entry that is a group; {@link #firstEvent} if there is none. */
  public int firstGroup() {
    return size - groups - events;
  }

  /** Returns the first entry that is an event; {@link #size} if there is none. */
  public int firstEvent() {
    return size - events;
  }

  /** Returns the number of spans of an entry, or of an event's parent: 1, or a group's size. */
  public int spans(int entry) {
    int event = entry - firstEvent();
    int g = (event < 0 ? entry : eventParents[event]) - firstGroup();
    return g < 0 ? 1 : groupEnds[g] - groupStarts[g];
  }

  /**
   * Returns the pairs of a group's spans that are of one trace: {@link SpanBatchReader#groupPairs}.
   */
  public long groupPairs(int group) {
    return groupPairs[group - firstGroup()];
  }

  /** Returns the duration of a group's span, at least 0; {@code i} is below {@link #spans}. */
  public long groupDurationNanos(int group, int i) {
    return groupDurationsNanos[groupStarts[group - firstGroup()] + i];
  }

  public long traceIdHigh(int span) {
    return traceIdHighs[span];
  }

  public long traceIdLow(int span) {
    return traceIdLows[span];
  }

  public long spanId(int span) {
    return spanIds[span];
  }

  public long startUnixNanos(int span) {
    return startsUnixNanos[span];
  }

  /** Returns the duration, at least 0. */
  public long durationNanos(int span) {
    return durationsNanos[span];
  }

  /** Returns the sampling threshold; 0 if the span represents only itself. */
  public long samplingThreshold(int span) {
    return samplingThresholds[span];
  }

  public int name(int span) {
    return names[span];
  }

  /** Returns the kind as in OTLP, 0 to 5. */
  public int kind(int span) {
    return kinds[span];
  }

  /** Returns the status as in OTLP, 0 to 2. */
  public int status(int span) {
    return statuses[span];
  }

  /**
   * Returns a series' value at {@link SeriesTable#KIND_AND_STATUS}: the span's own, or that of a
   * mapping; {@link #NONE} if the mapping excludes the span.
   */
  public int kindAndStatus(int span) {
    return kindsAndStatuses[span];
  }

  /** Returns a text, or {@link #NONE}. */
  public int statusMessage(int span) {
    return statusMessages[span];
  }

  /** Returns the number of dimensions of a span: of columns, then of labels. */
  public int dimensions() {
    return dimensions;
  }

  /** Returns the text of the span's value in a dimension, or {@link #NONE}. */
  public int dimension(int span, int dimension) {
    return dimensionValues[span * dimensions + dimension];
  }

  public int attributeCount(int span) {
    return (attributeStarts[span + 1] - attributeStarts[span]) / 2;
  }

  public int attributeKey(int span, int i) {
    return attributes[attributeStarts[span] + 2 * i];
  }

  public int attributeValue(int span, int i) {
    return attributes[attributeStarts[span] + 2 * i + 1];
  }
}
