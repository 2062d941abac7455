package org.traceetl.server.features.history;

import com.google.common.hash.Hashing;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;
import tools.jackson.core.JsonGenerator;

/** {@code GET /api/queues}: the queues of the fleet. */
final class QueuesServlet extends FleetServlet {
  static final String PATH = "/api/queues";

  private static final long serialVersionUID = 1L;

  private final transient Supplier<KnownQueues> queues;

  QueuesServlet(History history, Supplier<KnownQueues> queues) {
    super(history, Set.of());
    this.queues = queues;
  }

  /** More than the history is in it. */
  @Override
  protected String tag() {
    return null;
  }

  @Override
  protected String tag(byte[] body) {
    return Hashing.murmur3_128().hashBytes(body).toString();
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    Map<QueueId, QueueHour.View> hours = new TreeMap<>();
    history().queues().forEach(hour -> hours.put(hour.queue(), hour));
    KnownQueues known = queues.get();
    Map<QueueId, QueueStatus> own =
        known.own().stream()
            .collect(
                Collectors.toMap(
                    QueueStatus::queue, Function.identity(), (first, second) -> second));
    Set<QueueId> all = new TreeSet<>(hours.keySet());
    all.addAll(own.keySet());
    all.addAll(known.seen().ends().keySet());
    begin(out);
    out.writeNumberProperty("series", own.values().stream().mapToInt(QueueStatus::series).sum());
    out.writeNumberProperty("maxSeries", known.maxSeries());
    out.writeArrayPropertyStart("queues");
    for (QueueId queue : all) {
      put(out, queue, hours.get(queue), own.get(queue), known);
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  /**
   * @param hour null where the queue has no journal yet
   * @param own null where another server reads it
   */
  private static void put(
      JsonGenerator out, QueueId queue, QueueHour.View hour, QueueStatus own, KnownQueues known) {
    Endpoint owner = known.seen().owners().get(queue);
    long offset = hour == null ? -1 : hour.offset();
    // Of its own queues a server is told with each pull.
    long end = Math.max(known.seen().ends().getOrDefault(queue, -1L), own == null ? -1 : own.end());
    out.writeStartObject();
    out.writeStringProperty("queue", queue.toString());
    out.writeStringProperty("owner", owner == null ? null : owner.target());
    out.writeBooleanProperty("own", own != null);
    out.writeNumberProperty("spansPerSecond", hour == null ? 0 : hour.spansPerSecond());
    out.writeNumberProperty("applications", hour == null ? 0 : hour.applications());
    out.writeStringProperty("lastWindow", hour == null ? null : timeOrNull(hour.sealedMillis()));
    putKnown(out, "offset", offset);
    putKnown(out, "end", end);
    putKnown(out, "lagMessages", offset < 0 || end < 0 ? -1 : Math.max(0, end - offset));
    out.writeBooleanProperty("growing", known.growing().contains(queue));
    putKnown(out, "series", own == null ? -1 : own.series());
    putKnown(out, "agents", own == null ? -1 : own.agents());
    out.writeEndObject();
  }

  /** Null for what is below 0. */
  private static void putKnown(JsonGenerator out, String name, long value) {
    if (value < 0) {
      out.writeNullProperty(name);
    } else {
      out.writeNumberProperty(name, value);
    }
  }
}
