package org.traceetl.exporter;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.common.InstrumentationScopeInfoBuilder;

/** A tracer whose spans go into the ring. */
final class RingTracer implements Tracer {
  private static final String UNNAMED = "<unspecified span name>";
  private static final Tracer NONE = TracerProvider.noop().get("");

  private final Recorder recorder;
  private final InstrumentationScopeInfo scope;

  private RingTracer(Recorder recorder, InstrumentationScopeInfo scope) {
    this.recorder = recorder;
    this.scope = scope;
  }

  @Override
  public SpanBuilder spanBuilder(String spanName) {
    String name = spanName == null || spanName.isBlank() ? UNNAMED : spanName;
    return recorder.shutDown ? NONE.spanBuilder(name) : new RingSpanBuilder(recorder, scope, name);
  }

  /** Builds a tracer. */
  static final class Builder implements TracerBuilder {
    private final Recorder recorder;
    private final InstrumentationScopeInfoBuilder scope;

    Builder(Recorder recorder, String name) {
      this.recorder = recorder;
      scope = InstrumentationScopeInfo.builder(name == null ? "" : name);
    }

    @Override
    public TracerBuilder setSchemaUrl(String schemaUrl) {
      scope.setSchemaUrl(schemaUrl);
      return this;
    }

    @Override
    public TracerBuilder setInstrumentationVersion(String version) {
      scope.setVersion(version);
      return this;
    }

    @Override
    public Tracer build() {
      return new RingTracer(recorder, scope.build());
    }
  }
}
