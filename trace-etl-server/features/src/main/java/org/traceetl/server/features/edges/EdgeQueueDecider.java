package org.traceetl.server.features.edges;

import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import com.google.common.collect.Comparators;
import com.google.common.collect.Sets;
import com.google.common.primitives.Ints;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeQueues.Queues;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.decisions.Decider;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.decisions.PublishedRecord;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Follows the list of queues for half-edges. While the demand says that all servers read
 * half-edges, the deciding server publishes the queues of their topic; see {@link ListedQueues}.
 *
 * <p>If the demand says that not all servers read them, any server publishes an empty list, so that
 * agents stop: the deciding server may be of a release without half-edges. All servers follow the
 * same demand, so they contradict each other only for an interval. The deciding server also empties
 * the list if half-edges are disabled in its configuration. Nothing is published before the first
 * list, because agents and servers of earlier releases count the record as refused.
 *
 * <p>Concurrency: one thread reads and writes, and owns all state, except the published list.
 */
final class EdgeQueueDecider extends Decider<EdgeQueues> {
  private static final Logger LOG = LoggerFactory.getLogger(EdgeQueueDecider.class);

  /** Longest interval of looks. */
  private static final Duration MAX_INTERVAL = Duration.ofMinutes(1);

  /** A server that has restarted needs the list soon, because halves expire at once. */
  private static final Duration FIRST_AFTER = Duration.ofSeconds(1);

  private static final String NOT_READ =
      "not all servers announce in the demand that they read them";

  /** Maximum length of the queues in a log line. */
  private static final int MOST_TEXT = 1_000;

  /** The topic of half-edges. */
  interface Topic {
    /**
     * Returns the queues that can be both written and read, and that the topic of the journal has,
     * too; empty if there is no such topic.
     *
     * @throws IOException if they cannot be determined now
     */
    Set<QueueId> queues() throws IOException, InterruptedException;
  }

  private final EdgesConfig config;
  private final Topic topic;
  private final Duration interval;
  private final Consumer<EdgeQueues> listener;
  private volatile EdgeQueues current = EdgeQueues.NONE;

  // Confined to the thread.

  /** Only read. */
  private final PublishedRecord<Demand> demand;

  private final ListedQueues selection = new ListedQueues();

  /** The problem at the latest look; empty for none. */
  private String problem = "";

  /**
   * Creates a decider that is not started.
   *
   * @param decisionsTopic topic of the list and of the demand
   * @param interval interval of looks; shortened to one minute, and to half of the time that halves
   *     wait: servers should know a change before the halves that it separates expire
   * @param listener receives each list that comes into force, on the decider's thread
   */
  EdgeQueueDecider(
      EdgesConfig config,
      Topic topic,
      String decisionsTopic,
      Duration interval,
      Consumer<EdgeQueues> listener,
      DecisionLog decisions,
      Clocks clocks) {
    super(
        "trace-edge-queues",
        decisionsTopic,
        EdgeQueues.FORMAT,
        epoch -> new EdgeQueues(epoch, epoch, Map.of()),
        Comparators.min(FIRST_AFTER, interval),
        decisions,
        clocks);
    this.config = config;
    this.topic = topic;
    this.interval = shortened(interval, config);
    this.listener = listener;
    demand =
        new PublishedRecord<>(
            decisionsTopic,
            Demand.FORMAT,
            epoch -> new Demand(epoch, epoch, Map.of()),
            decisions,
            clock,
            nanoTime,
            throttle,
            now -> {});
  }

  private static Duration shortened(Duration interval, EdgesConfig config) {
    return Comparators.min(Comparators.min(interval, MAX_INTERVAL), config.maxWait().dividedBy(2));
  }

  /** Returns the list in force as of the latest look. Thread-safe. */
  EdgeQueues current() {
    return current;
  }

  /** Returns the number of queues in the list in force. Thread-safe. */
  int queues() {
    return queues(current).size();
  }

  /** Windows do not change the list. */
  @Override
  public void window(SealedWindow window) {}

  @Override
  protected void adopted(EdgeQueues now) {
    listener.accept(now);
    LOG.info(
        "Adopted a list of queues for half-edges; epoch={}, queues={}",
        now.epoch(),
        queues(now).size());
  }

  @Override
  protected long look() throws InterruptedException {
    try {
      update();
    } catch (IOException e) {
      selection.forget();
      if (config.enabled() && throttle.permits()) {
        LOG.warn("Could not check the queues for half-edges, trying again: {}", Reason.of(e));
      }
    }
    current = published.current();
    return interval.toNanos();
  }

  private void update() throws IOException, InterruptedException {
    // A record that cannot be read yet may be in force.
    boolean readAll = published.find() && published.read() && demand.find() && demand.read();
    if (!readAll) {
      selection.forget();
      return;
    }
    boolean decides = decides(decisions.queues());
    boolean allReadEdges = demand.current().readsEdges();
    if (decides && allReadEdges && config.enabled()) {
      list();
      return;
    }
    selection.forget();
    boolean listed = !published.current().brokers().isEmpty();
    // Without a demand it is unknown what servers read.
    boolean known = demand.current().epoch() > 0;
    if (listed && known && !allReadEdges) {
      empty(NOT_READ);
    } else if (listed && decides && !config.enabled()) {
      empty("trace-etl.edges.enabled is false on the deciding server");
    } else if (decides) {
      boolean waits = config.enabled() && !listed;
      report(waits ? "Agents send no half-edges: " + NOT_READ + "; see /api/demand" : "");
      repeat();
    }
  }

  private void list() throws IOException, InterruptedException {
    EdgeQueues before = published.current();
    Set<QueueId> listed = queues(before);
    Set<QueueId> present = topic.queues();
    SortedSet<QueueId> next = selection.look(listed, present, nanoTime.getAsLong());
    report(problem(next, present));
    if (next.equals(listed)) {
      repeat();
    } else if (publish(next)) {
      LOG.info(
          "Changed the list of queues for half-edges; epoch={}, added={}, removed={}",
          published.current().epoch(),
          text(Sets.difference(next, listed)),
          text(Sets.difference(listed, next)));
    }
  }

  private String problem(Set<QueueId> next, Set<QueueId> present) {
    if (next.isEmpty()) {
      return "Agents send no half-edges: topic "
          + config.topic()
          + " has no queue that can be written and read and that topic "
          + config.journalTopic()
          + " has too; create both with equal numbers of queues";
    }
    if (!next.containsAll(present)) {
      return "Half-edges go to only %d queues of topic %s: a list has at most %d, of %d brokers"
          .formatted(next.size(), config.topic(), EdgeQueues.MAX_QUEUES, EdgeQueues.MAX_BROKERS);
    }
    return "";
  }

  private void empty(String why) throws IOException, InterruptedException {
    if (publish(Set.of())) {
      LOG.warn(
          "Agents send no half-edges from now on: {}; epoch={}", why, published.current().epoch());
    }
  }

  /** Returns whether the list is in force. */
  private boolean publish(Set<QueueId> queues) throws IOException, InterruptedException {
    // If another server's record is in force, the next look continues from it.
    return published.put(new EdgeQueues(published.nextEpoch(), clock.millis(), byBroker(queues)));
  }

  private void repeat() throws IOException, InterruptedException {
    if (published.current().epoch() > 0) {
      published.repeat(true);
    }
  }

  /** Logs a problem when it begins. */
  private void report(String now) {
    if (!now.isEmpty() && !now.equals(problem)) {
      LOG.warn("{}", now);
    }
    problem = now;
  }

  private static Map<String, Queues> byBroker(Set<QueueId> queues) {
    return queues.stream()
        .sorted()
        .collect(
            groupingBy(
                QueueId::broker,
                collectingAndThen(
                    mapping(QueueId::queue, toList()),
                    numbers -> new Queues(Ints.toArray(numbers)))));
  }

  private static Set<QueueId> queues(EdgeQueues list) {
    return list.brokers().entrySet().stream()
        .flatMap(broker ->
            broker.getValue().numbers().mapToObj(number -> new QueueId(broker.getKey(), number)))
        .collect(toSet());
  }

  private static String text(Set<QueueId> queues) {
    return Printable.of(new TreeSet<>(queues).toString(), MOST_TEXT);
  }
}
