package org.traceetl.exporter;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.traceetl.exporter.ring.AttributeList;
import org.traceetl.exporter.ring.EndedSpan;
import org.traceetl.exporter.ring.Shortening;

/**
 * A span that {@link #end()} writes into the ring, as the SDK's span would be. Thread-safe: its
 * lock guards the fields that change. They no longer change when the span has ended, so its writer
 * reads them without the lock.
 */
final class RecordingSpan extends LocalSpan implements ReadableSpan, EndedSpan {
  private static final AttributeKey<String> EXCEPTION_TYPE =
      AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> EXCEPTION_MESSAGE =
      AttributeKey.stringKey("exception.message");
  private static final AttributeKey<String> EXCEPTION_STACKTRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private final Recorder recorder;
  private final InstrumentationScopeInfo scope;
  private final long parentSpanId;
  private final int parentFlags;
  private final boolean remoteParent;
  private final TraceState parentState;
  private final SpanKind kind;
  private final long startEpochNanos;

  /**
   * Added to the monotonic clock it gives nanoseconds since 1970. A local parent's spans share it,
   * so their order is right.
   */
  private final long clockOffsetNanos;

  private String name;

  /** Null: none. */
  private AttributeList attributes;

  /** Null: none. */
  private List<EventData> events;

  private int totalEvents;

  /** Null: none. */
  private List<LinkData> links;

  private int totalLinks;
  private StatusCode statusCode = StatusCode.UNSET;

  /** Null: none. */
  private String statusDescription;

  private long endEpochNanos;
  private boolean ended;

  /**
   * Creates a started span.
   *
   * @param spanId of the span
   * @param flags of the span
   * @param traceState of the span
   * @param builder has the rest
   * @param parent of the span
   * @param attributes null: none
   */
  RecordingSpan(
      long spanId,
      int flags,
      TraceState traceState,
      RingSpanBuilder builder,
      Parent parent,
      AttributeList attributes) {
    super(parent.traceIdHigh, parent.traceIdLow, spanId, flags, traceState);
    recorder = builder.recorder;
    scope = builder.scope;
    parentSpanId = parent.spanId;
    parentFlags = parent.flags;
    remoteParent = parent.remote;
    parentState = parent.traceState;
    kind = builder.kind();
    name = builder.name;
    links = builder.takeLinks();
    totalLinks = builder.totalLinks();
    this.attributes = attributes;
    long given = builder.startEpochNanos();
    if (parent.recording != null) {
      clockOffsetNanos = parent.recording.clockOffsetNanos;
      startEpochNanos = given != 0 ? given : now();
    } else {
      long nowEpochNanos = recorder.clock.now();
      clockOffsetNanos = nowEpochNanos - recorder.clock.nanoTime();
      startEpochNanos = given != 0 ? given : nowEpochNanos;
    }
  }

  private long now() {
    return clockOffsetNanos + recorder.clock.nanoTime();
  }

  @Override
  public synchronized boolean isRecording() {
    return !ended;
  }

  @Override
  public Span setAttribute(String key, String value) {
    return key == null ? this : setAttribute(recorder.keys.string(key), value);
  }

  @Override
  public Span setAttribute(String key, long value) {
    return key == null ? this : setAttribute(recorder.keys.number(key), (Long) value);
  }

  @Override
  public Span setAttribute(String key, double value) {
    return key == null ? this : setAttribute(recorder.keys.real(key), value);
  }

  @Override
  public Span setAttribute(String key, boolean value) {
    return key == null ? this : setAttribute(recorder.keys.bool(key), value);
  }

  @Override
  public synchronized <T> Span setAttribute(AttributeKey<T> key, T value) {
    if (!ended) {
      attributes().accept(key, value);
    }
    return this;
  }

  @Override
  public synchronized Span setAllAttributes(Attributes all) {
    if (!ended && all != null && !all.isEmpty()) {
      all.forEach(attributes());
    }
    return this;
  }

  private AttributeList attributes() {
    if (attributes == null) {
      attributes = recorder.newAttributes();
    }
    return attributes;
  }

  @Override
  public Span addEvent(String name, Attributes attributes) {
    return name == null ? this : event(name, attributes, now());
  }

  @Override
  public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
    return name == null || unit == null ? this : event(name, attributes, unit.toNanos(timestamp));
  }

  private Span event(String event, Attributes given, long epochNanos) {
    if (given == null || given.isEmpty()) {
      return add(EventData.create(epochNanos, event, Attributes.empty(), 0));
    }
    Attributes kept = Shortening.of(given, recorder.maxEventAttributes, recorder.maxValueLength);
    return add(EventData.create(epochNanos, event, kept, given.size()));
  }

  private synchronized Span add(EventData event) {
    if (!ended) {
      if (events == null) {
        events = new ArrayList<>(2);
      }
      if (events.size() < recorder.maxEvents) {
        events.add(event);
      }
      totalEvents++;
    }
    return this;
  }

  @Override
  public Span recordException(Throwable exception, Attributes additionalAttributes) {
    if (exception == null) {
      return this;
    }
    AttributeList list = recorder.newAttributes();
    list.accept(EXCEPTION_TYPE, exception.getClass().getCanonicalName());
    list.accept(EXCEPTION_MESSAGE, exception.getMessage());
    StringWriter text = new StringWriter();
    exception.printStackTrace(new PrintWriter(text));
    list.accept(EXCEPTION_STACKTRACE, text.toString());
    if (additionalAttributes != null) {
      additionalAttributes.forEach(list);
    }
    return add(ExceptionEventData.create(now(), exception, list.toAttributes(), list.total()));
  }

  @Override
  public synchronized Span setStatus(StatusCode code, String description) {
    if (!ended && code != null && code != StatusCode.UNSET && statusCode != StatusCode.OK) {
      statusCode = code;
      statusDescription = code == StatusCode.ERROR ? description : null;
    }
    return this;
  }

  @Override
  public synchronized Span updateName(String name) {
    if (!ended && name != null) {
      this.name = name;
    }
    return this;
  }

  @Override
  public Span addLink(SpanContext context, Attributes attributes) {
    if (context == null || !context.isValid()) {
      return this;
    }
    LinkData link = link(recorder, context, attributes);
    synchronized (this) {
      if (!ended) {
        if (links == null) {
          links = new ArrayList<>(2);
        }
        if (links.size() < recorder.maxLinks) {
          links.add(link);
        }
        totalLinks++;
      }
    }
    return this;
  }

  static LinkData link(Recorder recorder, SpanContext context, Attributes given) {
    return given == null || given.isEmpty()
        ? LinkData.create(context)
        : LinkData.create(
            context,
            Shortening.of(given, recorder.maxLinkAttributes, recorder.maxValueLength),
            given.size());
  }

  @Override
  public void end() {
    end(now());
  }

  @Override
  public void end(long timestamp, TimeUnit unit) {
    end(timestamp == 0 ? now() : unit == null ? timestamp : unit.toNanos(timestamp));
  }

  private void end(long epochNanos) {
    synchronized (this) {
      if (ended) {
        return;
      }
      endEpochNanos = epochNanos;
      ended = true;
    }
    if (isSampled()) {
      recorder.outlet.take(this);
    }
  }

  // The span as it was written.

  @Override
  public long traceIdHigh() {
    return traceIdHigh;
  }

  @Override
  public long traceIdLow() {
    return traceIdLow;
  }

  @Override
  public long spanId() {
    return spanId;
  }

  @Override
  public long parentSpanId() {
    return parentSpanId;
  }

  @Override
  public long startEpochNanos() {
    return startEpochNanos;
  }

  @Override
  public long endEpochNanos() {
    return endEpochNanos;
  }

  @Override
  public SpanKind kind() {
    return kind;
  }

  @Override
  public StatusCode statusCode() {
    return statusCode;
  }

  @Override
  public String statusDescription() {
    return statusDescription;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public TraceState traceState() {
    return traceState;
  }

  @Override
  public AttributeList attributeList() {
    return attributes;
  }

  @Override
  public List<EventData> eventList() {
    return events;
  }

  @Override
  public List<LinkData> linkList() {
    return links;
  }

  // The span for the processor that sends it while there is no ring, and for instrumentation.

  @Override
  public SpanContext getParentSpanContext() {
    if (parentSpanId == 0) {
      return SpanContext.getInvalid();
    }
    String traceId = TraceId.fromLongs(traceIdHigh, traceIdLow);
    String id = SpanId.fromLong(parentSpanId);
    TraceFlags flagsOfParent = TraceFlags.fromByte((byte) parentFlags);
    return remoteParent
        ? SpanContext.createFromRemoteParent(traceId, id, flagsOfParent, parentState)
        : SpanContext.create(traceId, id, flagsOfParent, parentState);
  }

  @Override
  public synchronized String getName() {
    return name;
  }

  @Override
  public SpanKind getKind() {
    return kind;
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  @Deprecated
  public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    return SpanSnapshot.library(scope);
  }

  @Override
  public synchronized boolean hasEnded() {
    return ended;
  }

  @Override
  public synchronized long getLatencyNanos() {
    return (ended ? endEpochNanos : now()) - startEpochNanos;
  }

  @Override
  public synchronized <T> T getAttribute(AttributeKey<T> key) {
    return attributes == null ? null : attributes.get(key);
  }

  @Override
  public synchronized Attributes getAttributes() {
    return attributes == null ? Attributes.empty() : attributes.toAttributes();
  }

  @Override
  public synchronized SpanData toSpanData() {
    return new SpanSnapshot(
        getSpanContext(),
        getParentSpanContext(),
        recorder.resource,
        scope,
        name,
        kind,
        startEpochNanos,
        endEpochNanos,
        ended,
        StatusData.create(statusCode, statusDescription),
        getAttributes(),
        attributes == null ? 0 : attributes.total(),
        events == null ? List.of() : List.copyOf(events),
        totalEvents,
        links == null ? List.of() : List.copyOf(links),
        totalLinks);
  }

  @Override
  public String toString() {
    return "RecordingSpan{" + toSpanData() + '}';
  }
}
