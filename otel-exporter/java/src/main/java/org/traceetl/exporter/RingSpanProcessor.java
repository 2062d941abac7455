package org.traceetl.exporter;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;

/**
 * Writes each sampled span, when it ends, into a ring that the host's log-agent reads. Spans are
 * not queued, and no failure reaches the application.
 *
 * <p>If the agent's directory is missing or a ring cannot be created, spans go to another
 * processor, if there is one. The processor tries again every 30 s.
 */
public final class RingSpanProcessor implements SpanProcessor {
  public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm/trace-etl");

  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(30);
  private static final Logger logger = Logger.getLogger(RingSpanProcessor.class.getName());

  private final Path directory;
  private final RingSize size;
  private final Resource resource;
  private final Supplier<? extends SpanProcessor> otherwise;
  private final ScheduledThreadPoolExecutor looking;

  private final AtomicLong failures = new AtomicLong();
  private volatile Throwable failure;

  /** Read once per span, so that each span goes to one outlet. */
  private volatile Outlet outlet = new Outlet(null, null);

  // The following fields are guarded by the lock.

  /** The outlet before the current ring; spans may still be on their way into it. */
  private SpanProcessor retired;

  private String lastTrouble;
  private long failuresSaid;
  private long fullSaid;
  private long tooLargeSaid;
  private boolean shutDown;

  private RingSpanProcessor(Builder builder) {
    directory = builder.directory;
    size = builder.size;
    resource = builder.resource;
    otherwise = builder.otherwise;
    openOrFallBack();
    looking =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "trace-etl-ring");
              thread.setDaemon(true);
              thread.setContextClassLoader(null);
              return thread;
            });
    looking.scheduleWithFixedDelay(
        this::look, LOOK_INTERVAL.toMillis(), LOOK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
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
    if (!span.getSpanContext().isSampled()) {
      return;
    }
    Outlet to = outlet;
    try {
      while (!to.take(span)) {
        Outlet now = outlet;
        if (now == to) {
          return;
        }
        to = now;
      }
    } catch (RuntimeException | LinkageError e) {
      failed(e);
    } catch (InternalError e) {
      // The JVM reports that a page of the file is missing: the file was cut.
      failed(e);
      close(to.ring);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  /** Flushes the fallback; spans in a ring need no flush. */
  @Override
  public CompletableResultCode forceFlush() {
    SpanProcessor other = outlet.other;
    return other == null ? CompletableResultCode.ofSuccess() : other.forceFlush();
  }

  @Override
  public CompletableResultCode shutdown() {
    looking.shutdownNow();
    synchronized (this) {
      if (shutDown) {
        return CompletableResultCode.ofSuccess();
      }
      shutDown = true;
      List<CompletableResultCode> ends = new ArrayList<>();
      Outlet last = outlet;
      if (last.ring != null) {
        logLosses(last.ring);
        close(last.ring);
      }
      if (last.other != null) {
        ends.add(last.other.shutdown());
      }
      if (retired != null) {
        ends.add(retired.shutdown());
      }
      return CompletableResultCode.ofAll(ends);
    }
  }

  /** Returns the current outlet, for logs. */
  @Override
  public String toString() {
    RingWriter writer = outlet.ring;
    return "RingSpanProcessor{"
        + (writer != null ? writer.file() : "no ring in " + directory)
        + '}';
  }

  /** Returns the spans that failed for a reason other than the ring's state. */
  long failures() {
    return failures.get();
  }

  /** Switches to a ring if one can be created, and away from one that was removed. */
  synchronized void look() {
    try {
      if (!shutDown) {
        lookAgain();
      }
    } catch (Throwable e) {
      // An exception would end the periodic check.
      logger.log(Level.WARNING, "Cannot look for a ring in " + directory, e);
    }
  }

  private void lookAgain() {
    if (retired != null) {
      retired.shutdown();
      retired = null;
    }
    RingWriter writer = outlet.ring;
    if (writer == null) {
      openOrFallBack();
      return;
    }
    logLosses(writer);
    if (!writer.isThere()) {
      logger.log(Level.WARNING, "The ring {0} was removed or cut.", writer.file());
      lastTrouble = null;
      fullSaid = 0;
      tooLargeSaid = 0;
      openOrFallBack();
      close(writer);
    }
  }

  private synchronized void openOrFallBack() {
    String trouble;
    SpanProcessor other = outlet.other;
    try {
      RingWriter writer = RingWriter.create(directory, size, resource.getAttributes());
      outlet = new Outlet(writer, null);
      lastTrouble = null;
      logger.log(Level.INFO, "Spans go to the ring {0}.", writer.file());
      if (other != null) {
        retired = other;
        other.forceFlush();
      }
      return;
    } catch (NoSuchFileException e) {
      trouble = directory + " does not exist";
    } catch (IOException | RuntimeException e) {
      trouble =
          Files.isDirectory(directory)
              ? "Cannot create a ring in " + directory + ": " + e
              : directory + " is not a directory";
    }
    if (other == null) {
      other = otherwise.get();
      outlet = new Outlet(null, other);
    }
    if (!trouble.equals(lastTrouble)) {
      lastTrouble = trouble;
      logger.log(
          Level.WARNING,
          "{0}; spans {1}. Check that a log-agent runs on this host with source ''ring'' and that"
              + " its directory is mounted here. Retrying every {2} s.",
          new Object[] {
            trouble, other == null ? "are dropped" : "go to OTLP", LOOK_INTERVAL.toSeconds()
          });
    }
  }

  private void failed(Throwable e) {
    failure = e;
    failures.incrementAndGet();
  }

  private void logLosses(RingWriter writer) {
    long failed = failures.get();
    if (failed != failuresSaid) {
      logger.log(Level.WARNING, (failed - failuresSaid) + " spans could not be written", failure);
      failuresSaid = failed;
    }
    long full;
    long tooLarge;
    try {
      full = writer.droppedAsFull();
      tooLarge = writer.droppedAsTooLarge();
    } catch (InternalError e) {
      return; // The file was cut, and its counts are lost.
    }
    if (full != fullSaid) {
      logger.log(
          Level.WARNING,
          "{0} spans were dropped because {1} was full: the log-agent does not read it or is too"
              + " slow. Check the agent''s log, or set {2} above {3}.",
          new Object[] {full - fullSaid, writer.file(), Keys.RING_BYTES, size.ringBytes()});
      fullSaid = full;
    }
    if (tooLarge != tooLargeSaid) {
      logger.log(
          Level.WARNING,
          "{0} spans were dropped because they exceed the largest record of {1}. Set"
              + " otel.span.attribute.value.length.limit.",
          new Object[] {tooLarge - tooLargeSaid, writer.file()});
      tooLargeSaid = tooLarge;
    }
  }

  private static void close(RingWriter writer) {
    try {
      writer.close();
    } catch (IOException e) {
      logger.log(Level.WARNING, "Cannot close " + writer.file(), e);
    }
  }

  /** The outlet of spans: a ring, another processor, or nothing. */
  private static final class Outlet {
    final RingWriter ring;
    final SpanProcessor other;

    Outlet(RingWriter ring, SpanProcessor other) {
      this.ring = ring;
      this.other = other;
    }

    /** Returns false if the ring was closed before it contained the span. */
    boolean take(ReadableSpan span) {
      if (ring != null) {
        return ring.write(span.toSpanData()) || !ring.isClosed();
      }
      if (other != null) {
        other.onEnd(span);
      }
      return true;
    }
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
