package org.traceetl.server.features.history;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.http.Cacheable;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/** The queues of the fleet. */
@RestController
final class QueuesResource implements Cacheable {
  private final History history;
  private final Supplier<KnownQueues> queues;

  /**
   * @param history null if it is disabled
   */
  QueuesResource(History history, Supplier<KnownQueues> queues) {
    this.history = history;
    this.queues = queues;
  }

  record Queues(boolean upToDate, int series, long maxSeries, List<Queue> queues) {}

  record Queue(
      String queue,
      String owner,
      boolean own,
      double spansPerSecond,
      int applications,
      Instant lastWindow,
      Long offset,
      Long end,
      Long lagMessages,
      boolean growing,
      Long series,
      Long agents) {}

  /** More than the history is in the answer. */
  @Override
  public String tag() {
    return null;
  }

  @GetMapping("/api/queues")
  Queues queues() {
    Map<QueueId, QueueHour.View> hours = new TreeMap<>();
    HistoryResource.kept(history).queues().forEach(hour -> hours.put(hour.queue(), hour));
    KnownQueues known = queues.get();
    Map<QueueId, QueueStatus> own =
        known.own().stream()
            .collect(
                Collectors.toMap(
                    QueueStatus::queue, Function.identity(), (first, second) -> second));
    Set<QueueId> all = new TreeSet<>(hours.keySet());
    all.addAll(own.keySet());
    all.addAll(known.seen().ends().keySet());
    return new Queues(
        history.upToDate(),
        own.values().stream().mapToInt(QueueStatus::series).sum(),
        known.maxSeries(),
        all.stream().map(queue -> queue(queue, hours.get(queue), own.get(queue), known)).toList());
  }

  /**
   * @param hour null if the queue has no journal yet
   * @param own null if another server reads it
   */
  private static Queue queue(
      QueueId queue, QueueHour.View hour, QueueStatus own, KnownQueues known) {
    Endpoint owner = known.seen().owners().get(queue);
    long offset = hour == null ? -1 : hour.offset();
    // Each pull tells a server the end of its own queues.
    long end = Math.max(known.seen().ends().getOrDefault(queue, -1L), own == null ? -1 : own.end());
    return new Queue(
        queue.toString(),
        owner == null ? null : owner.target(),
        own != null,
        hour == null ? 0 : hour.spansPerSecond(),
        hour == null ? 0 : hour.applications(),
        hour == null ? null : HistoryResource.timeOrNull(hour.sealedMillis()),
        known(offset),
        known(end),
        offset < 0 || end < 0 ? null : (Long) Math.max(0, end - offset),
        known.growing().contains(queue),
        own == null ? null : known(own.series()),
        own == null ? null : known(own.agents()));
  }

  /** Returns null for a number below 0. */
  private static Long known(long value) {
    return value < 0 ? null : (Long) value;
  }
}
