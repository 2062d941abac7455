package org.traceetl.exporter;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.traceetl.exporter.ring.RingSize;

/**
 * Writes each sampled span, when it ends, into a ring that the host's log-agent reads. Spans are
 * not queued, and no failure reaches the application.
 *
 * <p>If the agent's directory is missing or a ring cannot be created, spans go to another
 * processor, if there is one. The processor tries again every 30 s.
 */
public final class RingSpanProcessor implements SpanProcessor {
  public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm/trace-etl");

  private final RingOutlet outlet;

  private RingSpanProcessor(Builder builder) {
    outlet =
        new RingOutlet(
            builder.directory, builder.size, builder.resource.getAttributes(), builder.otherwise);
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  public void onStart(Context parentContext, ReadWriteSpan span) {}

  @Override
  public boolean isStartRequired() {
    return false;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (span.getSpanContext().isSampled()) {
      outlet.take(span);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  /** Flushes the fallback; spans in a ring need no flush. */
  @Override
  public CompletableResultCode forceFlush() {
    return outlet.forceFlush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return outlet.shutdown();
  }

  /** Returns where spans go, for logs. */
  @Override
  public String toString() {
    return "RingSpanProcessor{" + outlet + '}';
  }

  /** Returns the spans that failed for a reason other than the ring's state. */
  long failures() {
    return outlet.failures();
  }

  /** Switches to a ring if one can be created, and away from one that was removed. */
  void look() {
    outlet.look();
  }

  /** Configures a processor. */
  public static final class Builder {
    private Path directory = DEFAULT_DIRECTORY;
    private RingSize size =
        RingSize.of(RingSize.DEFAULT_RING_BYTES, RingSize.DEFAULT_DICTIONARY_BYTES);
    private Resource resource = Resource.getDefault();
    private Supplier<? extends SpanProcessor> otherwise = () -> null;

    private Builder() {}

    /** Sets the agent's directory; the default is {@link #DEFAULT_DIRECTORY}. */
    public Builder setDirectory(Path directory) {
      this.directory = directory;
      return this;
    }

    public Builder setSize(RingSize size) {
      this.size = size;
      return this;
    }

    /** Sets the tracer provider's resource. */
    public Builder setResource(Resource resource) {
      this.resource = resource;
      return this;
    }

    /** Sets the processor to use while there is no ring; it is created on first need. */
    public Builder setFallback(Supplier<? extends SpanProcessor> fallback) {
      otherwise = fallback;
      return this;
    }

    public RingSpanProcessor build() {
      return new RingSpanProcessor(this);
    }
  }
}
