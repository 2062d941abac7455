package org.traceetl.perf.bench.overhead.app;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The queues of the SDK's batch processors, one of each application. A queue with {@link #SPANS}
 * spans drops further ones.
 */
final class Queues implements Outlet {
  /** The default of {@code otel.bsp.max.queue.size}. */
  static final int SPANS = 2_048;

  private static final long FLUSH_SECONDS = 30;

  private final List<Counted> exporters = new ArrayList<>();
  private final List<SdkTracerProvider> providers = new ArrayList<>();

  /** Returns the next application's exporter with a count of what it has exported. */
  SpanExporter counted(SpanExporter exporter) {
    Counted counted = new Counted(exporter);
    exporters.add(counted);
    return counted;
  }

  /** Adds the next application's provider, whose exporter is counted. */
  void add(SdkTracerProvider provider) {
    providers.add(provider);
  }

  @Override
  public void ended(int application, int spans) {
    exporters.get(application).ended += spans;
  }

  @Override
  public boolean hasRoom(int spans) {
    for (Counted exporter : exporters) {
      if (exporter.waiting() + spans > SPANS) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void flush() {
    CompletableResultCode.ofAll(providers.stream().map(SdkTracerProvider::forceFlush).toList())
        .join(FLUSH_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public long dropped() {
    return exporters.stream().mapToLong(Counted::waiting).sum();
  }

  @Override
  public long failed() {
    return exporters.stream().mapToLong(exporter -> exporter.failed.get()).sum();
  }

  private static final class Counted implements SpanExporter {
    private final SpanExporter exporter;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private long ended;

    private Counted(SpanExporter exporter) {
      this.exporter = exporter;
    }

    /** Returns the spans in the queue and those being exported: more than the queue has. */
    private long waiting() {
      return ended - done.get();
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      int count = spans.size();
      CompletableResultCode result = exporter.export(spans);
      return result.whenComplete(() -> {
        if (!result.isSuccess()) {
          failed.addAndGet(count);
        }
        done.addAndGet(count);
      });
    }

    @Override
    public CompletableResultCode flush() {
      return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return exporter.shutdown();
    }
  }
}
