package org.traceetl.server.canary;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;

/**
 * Writes into shared memory of the host's agent. The answer is that the agent has read the spans. A
 * repeat writes nothing, and waits again. Confined to one thread.
 */
final class RingSender implements SpanSender {
  /** The smallest ones: the ring has room for a hundred probes. */
  private static final RingSize SIZE = RingSize.of(64 << 10, 4 << 10);

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Path directory;
  private final Attributes resource;
  private final Duration timeout;
  private final Clocks clocks;

  /** Null until a ring can be created. */
  private RingWriter ring;

  /** The latest probe in a ring. */
  private Probe written;

  private int dropped;

  /**
   * @param directory of the agent's rings
   */
  RingSender(Path directory, String application, Duration timeout, Clocks clocks) {
    this.directory = directory;
    this.timeout = timeout;
    this.clocks = clocks;
    resource = Attributes.of(AttributeKey.stringKey("service.name"), application);
  }

  @Override
  public Answer send(Probe probe) throws InterruptedException {
    if (probe != written) {
      try {
        write(probe);
      } catch (IOException e) {
        return Answer.failed(Outcome.REFUSED, "cannot create a ring: " + Reason.of(e));
      }
      if (probe != written) {
        return Answer.failed(Outcome.REFUSED, "the agent does not read " + ring.file());
      }
    }
    long startNanos = clocks.nanos();
    while (ring.isThere()) {
      if (ring.isRead()) {
        return new Answer(Outcome.ACCEPTED, dropped, "");
      }
      if (clocks.nanos() - startNanos > timeout.toNanos()) {
        return Answer.failed(Outcome.UNKNOWN, "the agent does not read " + ring.file());
      }
      clocks.pause().nanos(POLL_NANOS);
    }
    return Answer.failed(Outcome.UNKNOWN, ring.file() + " was removed or cut");
  }

  private void write(Probe probe) throws IOException {
    if (ring != null && !ring.isThere()) {
      ring.close();
      ring = null;
    }
    if (ring == null) {
      ring = RingWriter.create(directory, SIZE, resource);
    }
    dropped = 0;
    for (Probe.Span span : probe.spans()) {
      dropped += ring.write(span) ? 0 : 1;
    }
    if (dropped < Probe.SPANS) {
      written = probe;
    }
  }

  @Override
  public void close() {
    if (ring != null) {
      try {
        ring.close();
      } catch (IOException e) {
        throw new UncheckedIOException("closing " + ring.file(), e);
      }
    }
  }
}
