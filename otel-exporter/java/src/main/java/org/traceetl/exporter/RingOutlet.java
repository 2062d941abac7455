package org.traceetl.exporter;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.CompletableResultCode;
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
import org.traceetl.exporter.ring.EndedSpan;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;

/**
 * Writes ended spans into a ring that the host's log-agent reads. Spans are not queued, and no
 * failure reaches the application. Thread-safe.
 *
 * <p>If the agent's directory is missing or a ring cannot be created, spans go to another
 * processor, if there is one. The outlet tries again every 30 s.
 */
final class RingOutlet {
  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(30);
  private static final Logger logger = Logger.getLogger(RingOutlet.class.getName());

  private final Path directory;
  private final RingSize size;
  private final Attributes resource;
  private final Supplier<? extends SpanProcessor> otherwise;
  private final ScheduledThreadPoolExecutor looking;

  private final AtomicLong failures = new AtomicLong();
  private volatile Throwable failure;

  /** Read once per span, so that each span goes one way. */
  private volatile Way way = new Way(null, null);

  // The following fields are guarded by the lock.

  /** The processor before the current ring; threads may still pass spans to it. */
  private SpanProcessor retired;

  private String lastTrouble;
  private long failuresSaid;
  private long fullSaid;
  private long tooLargeSaid;
  private boolean shutDown;

  /**
   * Opens a ring, or the other processor.
   *
   * @param resource of all spans
   * @param otherwise creates the processor to use while there is no ring, or returns null
   */
  RingOutlet(
      Path directory,
      RingSize size,
      Attributes resource,
      Supplier<? extends SpanProcessor> otherwise) {
    this.directory = directory;
    this.size = size;
    this.resource = resource;
    this.otherwise = otherwise;
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

  /** Writes an ended, sampled span. No failure reaches the caller. */
  void take(ReadableSpan span) {
    Way to = way;
    try {
      while (!to.take(span)) {
        Way now = way;
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
      if (to.ring != null) {
        close(to.ring);
      }
    }
  }

  /** Flushes the fallback; spans in a ring need no flush. */
  CompletableResultCode forceFlush() {
    SpanProcessor other = way.other;
    return other == null ? CompletableResultCode.ofSuccess() : other.forceFlush();
  }

  /** Closes the ring, which the agent reads to its end, and ends the other processor. */
  CompletableResultCode shutdown() {
    looking.shutdownNow();
    synchronized (this) {
      if (shutDown) {
        return CompletableResultCode.ofSuccess();
      }
      shutDown = true;
      List<CompletableResultCode> ends = new ArrayList<>();
      Way last = way;
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

  /** Returns where spans go, for logs. */
  @Override
  public String toString() {
    RingWriter writer = way.ring;
    return writer != null ? writer.file().toString() : "no ring in " + directory;
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
    RingWriter writer = way.ring;
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
    SpanProcessor other = way.other;
    try {
      RingWriter writer = RingWriter.create(directory, size, resource);
      way = new Way(writer, null);
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
      way = new Way(null, other);
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

  /** The way of spans: a ring, another processor, or nothing. */
  private static final class Way {
    final RingWriter ring;
    final SpanProcessor other;

    Way(RingWriter ring, SpanProcessor other) {
      this.ring = ring;
      this.other = other;
    }

    /** Returns false if the ring was closed before it contained the span. */
    boolean take(ReadableSpan span) {
      if (ring != null) {
        boolean written =
            span instanceof EndedSpan
                ? ring.write((EndedSpan) span)
                : ring.write(span.toSpanData());
        return written || !ring.isClosed();
      }
      if (other != null) {
        other.onEnd(span);
      }
      return true;
    }
  }
}
