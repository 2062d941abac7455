package org.traceetl.exporter;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.traceetl.exporter.ring.AttributeList;
import org.traceetl.exporter.ring.Hex;

/** Starts a span as the SDK's builder does. Not thread-safe, as the API allows. */
final class RingSpanBuilder implements SpanBuilder {
  /** Tells a sampler that the ID of a new trace is random. */
  private static final Span RANDOM_ROOT =
      Span.wrap(
          SpanContext.create(
              TraceId.getInvalid(),
              SpanId.getInvalid(),
              TraceFlags.fromByte((byte) LocalSpan.RANDOM),
              TraceState.getDefault()));

  final Recorder recorder;
  final InstrumentationScopeInfo scope;
  final String name;

  /** Null: the current context. */
  private Context parent;

  private SpanKind kind = SpanKind.INTERNAL;

  /** Null: none. */
  private AttributeList attributes;

  /** Null: none. */
  private List<LinkData> links;

  private int totalLinks;
  private long startEpochNanos;

  RingSpanBuilder(Recorder recorder, InstrumentationScopeInfo scope, String name) {
    this.recorder = recorder;
    this.scope = scope;
    this.name = name;
  }

  SpanKind kind() {
    return kind;
  }

  /** Returns the links; later calls of the builder must not change them. */
  List<LinkData> takeLinks() {
    List<LinkData> taken = links;
    links = null;
    return taken;
  }

  int totalLinks() {
    return totalLinks;
  }

  /** Returns the given start, or 0. */
  long startEpochNanos() {
    return startEpochNanos;
  }

  @Override
  public SpanBuilder setParent(Context context) {
    if (context != null) {
      parent = context;
    }
    return this;
  }

  @Override
  public SpanBuilder setNoParent() {
    parent = Context.root();
    return this;
  }

  @Override
  public SpanBuilder addLink(SpanContext context) {
    return addLink(context, Attributes.empty());
  }

  @Override
  public SpanBuilder addLink(SpanContext context, Attributes attributesOfLink) {
    if (context == null || !context.isValid()) {
      return this;
    }
    if (links == null) {
      links = new ArrayList<>(2);
    }
    if (links.size() < recorder.maxLinks) {
      links.add(RecordingSpan.link(recorder, context, attributesOfLink));
    }
    totalLinks++;
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, String value) {
    return key == null ? this : setAttribute(recorder.keys.string(key), value);
  }

  @Override
  public SpanBuilder setAttribute(String key, long value) {
    return key == null ? this : setAttribute(recorder.keys.number(key), (Long) value);
  }

  @Override
  public SpanBuilder setAttribute(String key, double value) {
    return key == null ? this : setAttribute(recorder.keys.real(key), value);
  }

  @Override
  public SpanBuilder setAttribute(String key, boolean value) {
    return key == null ? this : setAttribute(recorder.keys.bool(key), value);
  }

  @Override
  public <T> SpanBuilder setAttribute(AttributeKey<T> key, T value) {
    attributes().accept(key, value);
    return this;
  }

  @Override
  public SpanBuilder setAllAttributes(Attributes all) {
    if (all != null && !all.isEmpty()) {
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
  public SpanBuilder setSpanKind(SpanKind spanKind) {
    if (spanKind != null) {
      kind = spanKind;
    }
    return this;
  }

  @Override
  public SpanBuilder setStartTimestamp(long timestamp, TimeUnit unit) {
    if (timestamp >= 0 && unit != null) {
      startEpochNanos = unit.toNanos(timestamp);
    }
    return this;
  }

  @Override
  public Span startSpan() {
    Context context = parent == null ? Context.current() : parent;
    Parent of = new Parent(Span.fromContext(context));
    long spanId = newSpanId();
    boolean random;
    if (of.exists()) {
      random = (of.flags & LocalSpan.RANDOM) != 0;
    } else {
      random = startTrace(of);
    }
    int flags = random ? LocalSpan.RANDOM : 0;
    if (recorder.rule == Recorder.Rule.ASK) {
      return ask(context, of, spanId, flags);
    }
    TraceState state = of.traceState;
    boolean sampled;
    if (recorder.parentBased && of.exists()) {
      sampled = of.isSampled();
    } else if (recorder.rule == Recorder.Rule.RATIO) {
      TraceState ofParent = of.exists() ? state : TraceState.getDefault();
      sampled = recorder.ratio.samples(of.traceIdLow, ofParent);
      state = sampled ? recorder.ratio.state(state) : state;
    } else {
      sampled = recorder.rule == Recorder.Rule.ON;
    }
    if (!sampled) {
      return drop(of, spanId, flags, state);
    }
    return start(of, spanId, flags | LocalSpan.SAMPLED, state);
  }

  /** Keeps the attributes for later calls of the builder, as the SDK does. */
  private Span drop(Parent of, long spanId, int flags, TraceState state) {
    links = null;
    return new DroppedSpan(of.traceIdHigh, of.traceIdLow, spanId, flags, state);
  }

  private Span start(Parent of, long spanId, int flags, TraceState state) {
    AttributeList taken = attributes;
    // Later calls of the builder must not change the span.
    attributes = null;
    return new RecordingSpan(spanId, flags, state, this, of, taken);
  }

  /** Starts the span as a sampler decides that is called for each span. */
  private Span ask(Context context, Parent of, long spanId, int flags) {
    boolean randomRoot = !of.exists() && flags != 0;
    SamplingResult result =
        recorder.sampler.shouldSample(
            randomRoot ? context.with(RANDOM_ROOT) : context,
            TraceId.fromLongs(of.traceIdHigh, of.traceIdLow),
            name,
            kind,
            attributes == null ? Attributes.empty() : attributes.toAttributes(),
            links == null ? List.of() : List.copyOf(links));
    TraceState state = result.getUpdatedTraceState(of.traceState);
    SamplingDecision decision = result.getDecision();
    if (decision == SamplingDecision.DROP) {
      return drop(of, spanId, flags, state);
    }
    setAllAttributes(result.getAttributes());
    boolean sampled = decision == SamplingDecision.RECORD_AND_SAMPLE;
    return start(of, spanId, sampled ? flags | LocalSpan.SAMPLED : flags, state);
  }

  private long newSpanId() {
    if (recorder.ids != null) {
      String id = recorder.ids.generateSpanId();
      return SpanId.isValid(id) ? Hex.parse(id, 0) : 0;
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    long id;
    do {
      id = random.nextLong();
    } while (id == 0);
    return id;
  }

  /** Gives the span a new trace. Returns whether its ID is random. */
  private boolean startTrace(Parent of) {
    if (recorder.ids == null) {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      of.traceIdHigh = random.nextLong();
      do {
        of.traceIdLow = random.nextLong();
      } while (of.traceIdLow == 0);
      return true;
    }
    String id = recorder.ids.generateTraceId();
    if (TraceId.isValid(id)) {
      of.traceIdHigh = Hex.parse(id, 0);
      of.traceIdLow = Hex.parse(id, Hex.DIGITS_OF_LONG);
    }
    return recorder.ids.generatesRandomTraceIds();
  }
}
