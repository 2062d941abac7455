package org.traceetl.exporter;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.Closeable;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.exporter.ring.RingSize;

/**
 * A tracer provider in place of the SDK's. Its spans write themselves into a ring when they end,
 * without a copy for a processor, so it costs a fraction. It has no span processors: while there is
 * no ring, spans go by OTLP as they do by {@link RingSpanProcessor}.
 *
 * <p>Resource, sampler and limits come from the SDK's keys ({@code OTEL_SERVICE_NAME}, {@code
 * OTEL_TRACES_SAMPLER}, …) unless the builder sets them.
 */
public final class TraceEtlTracerProvider implements TracerProvider, Closeable {
  private static final long CLOSE_SECONDS = 10;

  /** Null: {@code otel.sdk.disabled} is true. */
  private final Recorder recorder;

  private TraceEtlTracerProvider(Recorder recorder) {
    this.recorder = recorder;
  }

  /**
   * Returns a provider that the environment configures.
   *
   * @throws io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException if a key is invalid
   */
  public static TraceEtlTracerProvider create() {
    return builder().build();
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  public Tracer get(String scopeName) {
    return tracerBuilder(scopeName).build();
  }

  @Override
  public Tracer get(String scopeName, String scopeVersion) {
    return tracerBuilder(scopeName).setInstrumentationVersion(scopeVersion).build();
  }

  @Override
  public TracerBuilder tracerBuilder(String scopeName) {
    return recorder == null
        ? TracerProvider.noop().tracerBuilder(scopeName)
        : new RingTracer.Builder(recorder, scopeName);
  }

  /** Returns an OpenTelemetry with this provider, and the other parts of {@code others}. */
  public OpenTelemetry replaceTracersOf(OpenTelemetry others) {
    return new Replaced(this, others);
  }

  /** Sends spans that wait for OTLP; spans in a ring need no flush. */
  public CompletableResultCode forceFlush() {
    return recorder == null ? CompletableResultCode.ofSuccess() : recorder.outlet.forceFlush();
  }

  /** Closes the ring, which the agent reads to its end. Spans that end later are lost. */
  public CompletableResultCode shutdown() {
    if (recorder == null) {
      return CompletableResultCode.ofSuccess();
    }
    recorder.shutDown = true;
    return CompletableResultCode.ofAll(
        List.of(recorder.outlet.shutdown(), recorder.sampler.shutdown()));
  }

  /** Shuts down, and waits at most 10 s for spans that wait for OTLP. */
  @Override
  public void close() {
    shutdown().join(CLOSE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public String toString() {
    return "TraceEtlTracerProvider{" + (recorder == null ? "disabled" : recorder.outlet) + '}';
  }

  /** Returns the spans that failed for a reason other than the ring's state. */
  long failures() {
    return recorder.outlet.failures();
  }

  /** Switches to a ring if one can be created, and away from one that was removed. */
  void look() {
    recorder.outlet.look();
  }

  private static final class Replaced implements OpenTelemetry {
    private final TracerProvider tracers;
    private final OpenTelemetry others;

    private Replaced(TracerProvider tracers, OpenTelemetry others) {
      this.tracers = tracers;
      this.others = others;
    }

    @Override
    public TracerProvider getTracerProvider() {
      return tracers;
    }

    @Override
    public MeterProvider getMeterProvider() {
      return others.getMeterProvider();
    }

    @Override
    public LoggerProvider getLogsBridge() {
      return others.getLogsBridge();
    }

    @Override
    public ContextPropagators getPropagators() {
      return others.getPropagators();
    }

    @Override
    public String toString() {
      return "OpenTelemetry{" + tracers + ", " + others + '}';
    }
  }

  /** Configures a provider. Each value that is not set comes from the environment. */
  public static final class Builder {
    private Path directory;
    private RingSize size;
    private Resource resource;
    private Sampler sampler;
    private SpanLimits limits;
    private IdGenerator ids;
    private Clock clock = Clock.getDefault();
    private Supplier<? extends SpanProcessor> fallback;

    private Builder() {}

    /** Sets the agent's directory. */
    public Builder setDirectory(Path directory) {
      this.directory = directory;
      return this;
    }

    public Builder setSize(RingSize size) {
      this.size = size;
      return this;
    }

    /** Sets the resource of all spans. */
    public Builder setResource(Resource resource) {
      this.resource = resource;
      return this;
    }

    public Builder setSampler(Sampler sampler) {
      this.sampler = sampler;
      return this;
    }

    /**
     * Sets a parent-based sampler of a share of traces. Servers count each span as the number that
     * it represents.
     *
     * @param ratio from 0 to 1
     */
    public Builder setSamplingRatio(double ratio) {
      return setSampler(new RatioSampler(ratio, true));
    }

    public Builder setSpanLimits(SpanLimits limits) {
      this.limits = limits;
      return this;
    }

    /** Sets the source of IDs; without it they are random. */
    public Builder setIdGenerator(IdGenerator ids) {
      this.ids = ids;
      return this;
    }

    public Builder setClock(Clock clock) {
      this.clock = clock;
      return this;
    }

    /** Sets the processor to use while there is no ring, in place of OTLP. */
    public Builder setFallback(Supplier<? extends SpanProcessor> fallback) {
      this.fallback = fallback;
      return this;
    }

    /**
     * Opens the ring.
     *
     * @throws io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException if a key is invalid
     */
    public TraceEtlTracerProvider build() {
      return build(Environment.ofProcess());
    }

    TraceEtlTracerProvider build(ConfigProperties config) {
      if (TraceSettings.isDisabled(config)) {
        return new TraceEtlTracerProvider(null);
      }
      Sampler samplerUsed = sampler != null ? sampler : TraceSettings.sampler(config);
      SpanLimits limitsUsed = limits != null ? limits : TraceSettings.limits(config);
      Resource resourceUsed = resource != null ? resource : TraceSettings.resource(config);
      RingOutlet outlet =
          new RingOutlet(
              directory != null ? directory : Keys.directory(config),
              size != null ? size : Keys.size(config),
              resourceUsed.getAttributes(),
              fallback != null ? fallback : () -> OtlpFallback.processor(config));
      return new TraceEtlTracerProvider(
          new Recorder(outlet, resourceUsed, clock, ids, samplerUsed, limitsUsed));
    }
  }
}
