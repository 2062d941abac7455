package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.LogThrottle;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * Follows the servers' decisions on hotspots: begins with those of an earlier run, then reads the
 * newest of the topic at an interval. Which of two holds is {@link HotspotDecisions#holdsOver}'s to
 * say. What is no record is left out and counted.
 */
public final class DecisionsWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DecisionsWatch.class);

  /** Where the records stand. */
  public interface Topic {
    /**
     * The newest records.
     *
     * @param known up to where records were read before; {@link Place#NONE} for none
     * @throws IOException when the broker does not tell, with a message for the operator
     */
    Newest newest(Place known) throws IOException;
  }

  /**
   * A place in the topic.
   *
   * @param broker that holds the queue of the records: another one when brokers come or go
   * @param end offset behind the newest record there
   */
  public record Place(String broker, long end) {
    /** In no topic. */
    public static final Place NONE = new Place("", -1);
  }

  /**
   * Records of the topic.
   *
   * @param place behind the newest; {@link Place#NONE} if there is no such topic
   * @param records oldest first; none where nothing was added to those known
   */
  public record Newest(Place place, List<byte[]> records) {}

  private final Topic topic;
  private final int intervalMillis;
  private final DecisionsFile file;
  private final LongSupplier unixMillis;
  private final Consumer<HotspotDecisions> listener;
  private final Map<String, LongAdder> refused = new TreeMap<>();
  private final LogThrottle failureLog = new LogThrottle(30, TimeUnit.SECONDS, System::nanoTime);
  private final CountDownLatch closed = new CountDownLatch(1);
  // A daemon: a question that the broker does not answer must not hold up the end.
  private final Thread thread = Thread.ofPlatform().daemon().name("decisions").unstarted(this::run);
  private volatile HotspotDecisions current = HotspotDecisions.NONE;
  // Owned by the thread.
  private Place known = Place.NONE;

  /**
   * Not started yet.
   *
   * @param intervalMillis between two questions
   * @param unixMillis milliseconds since 1970
   * @param listener told of the decisions each time they have changed, on the watch's thread
   */
  public DecisionsWatch(
      Topic topic,
      int intervalMillis,
      DecisionsFile file,
      AgentMetrics metrics,
      LongSupplier unixMillis,
      Consumer<HotspotDecisions> listener) {
    this.topic = topic;
    this.intervalMillis = intervalMillis;
    this.file = file;
    this.unixMillis = unixMillis;
    this.listener = listener;
    Map<String, DoubleSupplier> counts = new TreeMap<>();
    for (Reason reason : Reason.values()) {
      LongAdder count = new LongAdder();
      refused.put(reason.label(), count);
      counts.put(reason.label(), count::sum);
    }
    metrics.gauge(
        "hotspot_epoch",
        "Epoch of the servers' decisions on hotspots that are in force; 0 for none.",
        () -> current.epoch());
    metrics.gauge(
        "hotspot_applications",
        "Applications that live on more queues by a decision of the servers.",
        () -> current.applications().size());
    metrics.counter(
        "hotspot_records_refused_total",
        "Records of the servers' decisions that could not be read, by reason.",
        "reason",
        counts);
  }

  /** Takes what is kept of an earlier run, and begins to ask. */
  public void start() {
    file.load()
        .ifPresent(record -> {
          try {
            take(decode(record));
          } catch (MalformedDecisionsException e) {
            log.warn("The last known decisions on hotspots are left out: {}", e.getMessage());
          }
        });
    thread.start();
  }

  /** The decisions in force. */
  public HotspotDecisions current() {
    return current;
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void run() {
    try {
      do {
        look();
      } while (!closed.await(intervalMillis, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      log.warn("Decisions on hotspots are not followed any more: interrupted");
    }
  }

  /** One question. */
  void look() {
    try {
      Newest newest = topic.newest(known);
      HotspotDecisions before = current;
      newest.records().forEach(this::read);
      known = newest.place();
      if (!current.equals(before)) {
        file.save(current.encode());
      }
    } catch (IOException | RuntimeException e) {
      if (closed.getCount() > 0 && failureLog.permits()) {
        log.warn(
            "Decisions on hotspots: {}; those of epoch {} stay in force",
            e.getMessage(),
            current.epoch());
      }
    }
  }

  private void read(byte[] record) {
    try {
      take(decode(record));
    } catch (MalformedDecisionsException e) {
      refused.get(e.reason().label()).increment();
      if (failureLog.permits()) {
        log.warn("A record of decisions on hotspots is left out: {}", e.getMessage());
      }
    }
  }

  private HotspotDecisions decode(byte[] record) throws MalformedDecisionsException {
    return HotspotDecisions.decode(record, unixMillis.getAsLong());
  }

  private void take(HotspotDecisions decisions) {
    if (decisions.holdsOver(current)) {
      current = decisions;
      log.info(
          "Hotspots by the servers' decisions of epoch {}: {} applications",
          decisions.epoch(),
          decisions.applications().size());
      listener.accept(decisions);
    }
  }
}
