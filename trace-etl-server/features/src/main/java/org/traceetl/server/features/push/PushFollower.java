package org.traceetl.server.features.push;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.component.Background;
import org.traceetl.server.journal.BrokerThreads;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.journal.chain.SnapshotTail;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Sends the series of the queues that this process owns to the configured endpoints, as the journal
 * has them: the sums at the end of each pane.
 *
 * <p>For each queue and endpoint, the journal has a mark: up to it, all requests have final
 * answers. The queue's next owner continues there, and repeats at most the requests after it. A
 * repeated request is equal, so that the receiver counts nothing twice. While an endpoint is away,
 * its samples stay in the journal, as long as the broker keeps it: nothing is read while requests
 * wait.
 *
 * <p>Only windows are sent that this process knows to be kept. The log may show a window that a
 * change of the broker's master loses again.
 *
 * <p>Concurrency: for each endpoint and broker, a thread reads the journals and makes the samples.
 * An endpoint or a broker that does not answer delays only itself.
 */
final class PushFollower implements WindowFollower, Background {
  /** Opens the journals of queues with the marks of an endpoint. */
  interface Tails {
    SnapshotTail open(QueueId queue, String endpoint) throws IOException, InterruptedException;
  }

  private record Endpoint(Receiver receiver, BrokerThreads<SampleReader> readers) {}

  private final List<Endpoint> endpoints;

  /**
   * Creates a follower that is not started.
   *
   * @param receivers started and closed with this
   * @param tails used only by this follower
   */
  PushFollower(List<Receiver> receivers, Tails tails, Clocks clocks) {
    LogThrottle throttle = new LogThrottle(clocks.wall());
    endpoints =
        receivers.stream().map(receiver -> endpoint(receiver, tails, clocks, throttle)).toList();
  }

  private static Endpoint endpoint(
      Receiver receiver, Tails tails, Clocks clocks, LogThrottle throttle) {
    AtomicReference<BrokerThreads<SampleReader>> readers = new AtomicReference<>();
    readers.set(
        new BrokerThreads<>(
            clocks,
            "trace-push-" + receiver.name(),
            broker ->
                new SampleReader(
                    receiver, tails, () -> readers.get().wake(), clocks.nanoClock(), throttle),
            throttle));
    return new Endpoint(receiver, readers.get());
  }

  @Override
  public void start() {
    for (Endpoint endpoint : endpoints) {
      endpoint.receiver.start();
      endpoint.readers.start();
    }
  }

  /** Sends the queue's series, because this process owns it. */
  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    for (Endpoint endpoint : endpoints) {
      endpoint.readers.of(queue.broker()).own(queue, image.number());
      endpoint.readers.wake();
    }
  }

  /** Permits the window to be sent. It is read from the journal, so that memory is bounded. */
  @Override
  public void window(SealedWindow window) {
    QueueId queue = window.queue();
    for (Endpoint endpoint : endpoints) {
      endpoint.readers.of(queue.broker()).kept(queue);
      endpoint.readers.wake();
    }
  }

  /** Stops sending the queue's series, because this process no longer owns it. */
  @Override
  public void released(QueueId queue) {
    for (Endpoint endpoint : endpoints) {
      endpoint.readers.of(queue.broker()).release(queue);
      endpoint.readers.wake();
    }
  }

  /**
   * Returns by endpoint and queue the approximate number of records of the journal that have no
   * final answers.
   */
  Map<String, Map<QueueId, Long>> lag() {
    return byQueue(SampleReader::lag);
  }

  /** Returns by endpoint and queue the rows of open panes. */
  Map<String, Map<QueueId, Long>> openRows() {
    return byQueue(SampleReader::openRows);
  }

  private Map<String, Map<QueueId, Long>> byQueue(Function<SampleReader, Map<QueueId, Long>> of) {
    Map<String, Map<QueueId, Long>> values = new TreeMap<>();
    for (Endpoint endpoint : endpoints) {
      Map<QueueId, Long> ofEndpoint = new HashMap<>();
      endpoint.readers.all().forEach(reader -> ofEndpoint.putAll(of.apply(reader)));
      values.put(endpoint.receiver.name(), ofEndpoint);
    }
    return values;
  }

  /** Returns by endpoint how many open panes were merged. */
  Map<String, Double> mergedPanes() {
    Map<String, Double> merged = new TreeMap<>();
    for (Endpoint endpoint : endpoints) {
      long sum = endpoint.readers.all().stream().mapToLong(SampleReader::mergedPanes).sum();
      merged.put(endpoint.receiver.name(), (double) sum);
    }
    return merged;
  }

  @Override
  public boolean alive() {
    return endpoints.stream()
        .allMatch(endpoint -> endpoint.receiver.alive() && endpoint.readers.alive());
  }

  /** Samples that have no final answers stay in the journal. */
  @Override
  public void close() {
    // First, so that the readers mark at their end what is answered last.
    endpoints.forEach(endpoint -> endpoint.receiver.close());
    endpoints.forEach(endpoint -> endpoint.readers.close());
  }

  /**
   * Does the due work of all readers.
   *
   * @return nanoseconds until work may be due; 0 for now
   */
  long step() throws InterruptedException {
    long idleNanos = SteppedTask.IDLE_NANOS;
    for (Endpoint endpoint : endpoints) {
      for (SampleReader reader : endpoint.readers.all()) {
        idleNanos = Math.min(idleNanos, reader.doWork());
      }
    }
    return idleNanos;
  }
}
