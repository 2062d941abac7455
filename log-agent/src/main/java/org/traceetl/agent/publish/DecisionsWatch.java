package org.traceetl.agent.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.MalformedDecisionsException.Reason;
import org.traceetl.proto.RulesRecord;
import org.traceetl.proto.SignedRecord;

/**
 * Follows the servers' hotspot decisions, learnt names, demand and queues of half-edges. It begins
 * with the records of an earlier run, then reads the newest of the topic at an interval. Invalid
 * records are ignored and counted.
 */
public final class DecisionsWatch implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DecisionsWatch.class);

  /** The topic of the records. */
  public interface Topic {
    /**
     * Returns the newest records.
     *
     * @param known the place up to which records were read; {@link Place#NONE} for none
     * @throws IOException if the broker does not answer, with a message for the operator
     */
    Newest newest(Place known) throws IOException;
  }

  /**
   * A place in the topic.
   *
   * @param broker that has the queue of the records; it changes when brokers come or go
   * @param end offset after its newest record
   */
  public record Place(String broker, long end) {
    /** In no topic. */
    public static final Place NONE = new Place("", -1);
  }

  /**
   * Records of the topic.
   *
   * @param place after the newest record; {@link Place#NONE} if the topic does not exist
   * @param records oldest first; empty if there are no new ones
   */
  public record Newest(Place place, List<byte[]> records) {}

  /**
   * What the watch reads.
   *
   * @param topic name of the topic
   * @param publicKeysFile of the servers, read before each request; if empty, records need no
   *     signature
   * @param intervalMillis between two requests
   */
  public record Options(String topic, Optional<Path> publicKeysFile, int intervalMillis) {}

  private final Topic topic;
  private final Options options;
  private final List<RecordFollower<?>> kinds;
  private final LongSupplier unixMillis;
  private final Map<String, LongAdder> refused = new TreeMap<>();
  private final LogThrottle failureLog;
  // A daemon, because a request without an answer must not delay the exit.
  private final SteppedThread thread;
  // Owned by the thread.
  private List<PublicKey> publicKeys = List.of();
  private Place known = Place.NONE;

  /** Creates a watch that is not started. */
  public DecisionsWatch(
      Options options,
      Topic topic,
      RecordFollower<HotspotDecisions> hotspots,
      RecordFollower<LearntNames> names,
      RecordFollower<Demand> demand,
      RecordFollower<EdgeQueues> edges,
      PublishMetrics metrics,
      Clocks clocks) {
    failureLog = new LogThrottle(Duration.ofSeconds(30), clocks.nanoClock());
    this.options = options;
    this.topic = topic;
    kinds = List.of(hotspots, names, demand, edges);
    unixMillis = clocks.latestMillis();
    thread = SteppedThread.daemon(clocks, "decisions", this, new LogThrottle(clocks.nanoClock()));
    Map<String, DoubleSupplier> counts = new TreeMap<>();
    for (Reason reason : Reason.values()) {
      LongAdder count = new LongAdder();
      refused.put(reason.label(), count);
      counts.put(reason.label(), count::sum);
    }
    // An alert finds agents with an older epoch. An agent that routes by no decision has none.
    if (hotspots.isFollowed() || names.isFollowed()) {
      metrics.gauge(
          "hotspot_epoch",
          "Epoch of the servers' hotspot decisions in force; 0 if there are none.",
          () -> hotspots.current().epoch());
    }
    metrics.gauge(
        "hotspot_applications",
        "Applications that use more queues because the servers decided so.",
        () -> hotspots.current().applications().size());
    metrics.gauge(
        "learnt_names_epoch",
        "Epoch of the learnt names in force; 0 if there are none.",
        () -> names.current().epoch());
    metrics.gauge(
        "learnt_name_rules",
        "Rules learnt by the servers that replace variable parts of span names.",
        () -> names.current().rules());
    metrics.gauge(
        "demand_version",
        "Version of the servers' demand in force; 0 without one.",
        () -> demand.current().version());
    metrics.gauge(
        "edge_queues_epoch",
        "Epoch of the servers' list of queues for half-edges in force; 0 without one.",
        () -> edges.current().epoch());
    metrics.counter(
        "hotspot_records_refused_total",
        "Records of the servers' decisions that were refused, by reason.",
        "reason",
        counts);
  }

  /** Loads the records of an earlier run, and starts the thread. */
  public void start() {
    load();
    thread.start();
  }

  /** Loads the records of an earlier run. */
  void load() {
    kinds.forEach(kind -> kind.load(unixMillis.getAsLong()));
  }

  @Override
  public void close() {
    thread.finish();
  }

  /** Reads the newest records once. */
  @Override
  public long doWork() {
    kinds.forEach(RecordFollower::expire);
    try {
      // If the configured keys cannot be read, no record is accepted.
      readPublicKeys();
      Newest newest = topic.newest(known);
      newest.records().forEach(this::read);
      known = newest.place();
      kinds.forEach(RecordFollower::save);
    } catch (IOException | RuntimeException e) {
      if (!thread.isClosed() && failureLog.permits()) {
        log.warn(
            "Cannot read the servers' decisions: {}; the known decisions stay in force",
            e.getMessage());
      }
    }
    return TimeUnit.MILLISECONDS.toNanos(options.intervalMillis());
  }

  private void readPublicKeys() throws IOException {
    if (options.publicKeysFile().isPresent()) {
      Path file = options.publicKeysFile().get();
      try {
        publicKeys = SignedRecord.publicKeys(Files.readString(file));
      } catch (IOException | IllegalArgumentException e) {
        throw new IOException("routing.public-keys-file = " + file + ": " + e.getMessage(), e);
      }
    }
  }

  private void read(byte[] message) {
    try {
      take(SignedRecord.open(message, options.topic(), publicKeys));
    } catch (MalformedDecisionsException e) {
      refused.get(e.reason().label()).increment();
      if (failureLog.permits()) {
        log.warn("Ignored a record of the servers' decisions: {}", e.getMessage());
      }
    }
  }

  private void take(byte[] record) throws MalformedDecisionsException {
    if (RulesRecord.FORMAT.begins(record)) {
      // Only servers apply rules; the demand contains what agents need of them.
      return;
    }
    // The first followed kind refuses a record of unknown kind, with a reason.
    RecordFollower<?> its =
        kinds.stream()
            .filter(kind -> kind.begins(record))
            .findFirst()
            .or(() -> kinds.stream().filter(RecordFollower::isFollowed).findFirst())
            .orElse(kinds.getFirst());
    its.take(record, unixMillis.getAsLong());
  }
}
