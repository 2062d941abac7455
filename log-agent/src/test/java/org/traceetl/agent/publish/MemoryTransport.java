package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** A broker in memory that confirms, fails or does not answer. */
public class MemoryTransport implements Transport {
  /** The result of an attempt. */
  public enum Mode {
    CONFIRM,
    UNREACHABLE,
    /** Stores the message, but reports a failure, as after a timeout. */
    STORE_AND_TIME_OUT,
    /** Stores the message on one host only. */
    STORE_WITHOUT_REPLICA,
    /** Holds the attempts until {@link #confirmHeld}. */
    HOLD
  }

  /** A stored batch; one of half-edges has no spans. */
  public record Stored(BrokerQueue queue, long epoch, long sequence, int spans, byte[] body) {
    static Stored of(BrokerQueue queue, byte[] body) {
      if (queue.topic() == BrokerQueue.Topic.EDGES) {
        EdgeBatchReader edges = new EdgeBatchReader();
        edges.wrap(body, 0, body.length);
        return new Stored(queue, edges.epoch(), edges.sequence(), 0, body);
      }
      SpanBatchReader reader = new SpanBatchReader();
      reader.wrap(body, 0, body.length);
      return new Stored(queue, reader.epoch(), reader.sequence(), reader.spanCount(), body);
    }
  }

  /** A stored heartbeat. */
  public record Beat(BrokerQueue queue, Heartbeat heartbeat, String ages) {}

  /** A stored message; a heartbeat has no batches. */
  public record Kept(BrokerQueue queue, long sentMillis, String ages, List<Stored> batches) {}

  private final List<Stored> stored = new ArrayList<>();
  private final List<Beat> beats = new ArrayList<>();
  private final List<Kept> kept = new ArrayList<>();
  private final LongSupplier millis;
  private final List<Integer> messages = new ArrayList<>();
  private final List<String> ages = new ArrayList<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Mode mode = Mode.CONFIRM;
  private Predicate<Stored> refused = batch -> false;
  private int mostBatches = Integer.MAX_VALUE;
  private String awayBroker = "";
  private BrokerQueue.Topic awayTopic;
  private String throwingBroker = "";
  private int attempts;

  public MemoryTransport() {
    this(() -> 0);
  }

  /**
   * @param millis the time at which messages are sent
   */
  MemoryTransport(LongSupplier millis) {
    this.millis = millis;
  }

  public synchronized void mode(Mode now) {
    mode = now;
  }

  /** Makes this broker unreachable. */
  public synchronized void away(String broker) {
    awayBroker = broker;
  }

  /** Makes the queues of this topic unreachable; null for none. */
  public synchronized void away(BrokerQueue.Topic topic) {
    awayTopic = topic;
  }

  /** Makes attempts to reach this broker throw. */
  public synchronized void throwing(String broker) {
    throwingBroker = broker;
  }

  /** Refuses these batches permanently, and bundles with them. */
  public synchronized void refuse(Predicate<Stored> which) {
    refused = which;
  }

  /** Refuses messages with more batches permanently. */
  public synchronized void refuseAbove(int batches) {
    mostBatches = batches;
  }

  @Override
  public synchronized void send(
      BrokerQueue queue, byte[] message, Supplier<String> aging, Answer answer) {
    String itsAges = aging.get();
    boolean isHeartbeat = Heartbeat.begins(message);
    if (!isHeartbeat) {
      attempts++;
      ages.add(itsAges);
    }
    if (throwingBroker.equals(queue.broker())) {
      throw new IllegalStateException("a fault of the transport");
    }
    if (awayBroker.equals(queue.broker()) || queue.topic() == awayTopic) {
      answer.failed(Failure.CONNECT, "connection refused");
      return;
    }
    List<Stored> batches = isHeartbeat ? List.of() : batches(queue, message);
    Kept sent = new Kept(queue, millis.getAsLong(), itsAges, batches);
    Runnable store =
        () -> {
          kept.add(sent);
          if (isHeartbeat) {
            beats.add(new Beat(queue, Heartbeat.read(message).orElseThrow(), itsAges));
          } else {
            store(batches);
          }
        };
    if (batches.size() > mostBatches || batches.stream().anyMatch(refused)) {
      answer.refused("illegal message");
      return;
    }
    switch (mode) {
      case CONFIRM -> {
        store.run();
        answer.confirmed();
      }
      case UNREACHABLE -> answer.failed(Failure.CONNECT, "connection refused");
      case STORE_AND_TIME_OUT -> {
        store.run();
        answer.failed(Failure.TIMEOUT, "timed out");
      }
      case STORE_WITHOUT_REPLICA -> {
        store.run();
        answer.failed(Failure.FLUSH_SLAVE_TIMEOUT, "no replica confirmed it");
      }
      case HOLD ->
          held.add(() -> {
            store.run();
            answer.confirmed();
          });
    }
  }

  private static List<Stored> batches(BrokerQueue queue, byte[] message) {
    if (!BundleReader.begins(message, 0, message.length)) {
      return List.of(Stored.of(queue, message));
    }
    BundleReader bundle = new BundleReader();
    if (bundle.wrap(message, 0, message.length) != Rejection.NONE) {
      throw new IllegalArgumentException("a malformed bundle");
    }
    List<Stored> batches = new ArrayList<>();
    for (int part = 0; part < bundle.count(); part++) {
      int from = bundle.offset(part);
      batches.add(Stored.of(queue, Arrays.copyOfRange(message, from, from + bundle.length(part))));
    }
    return batches;
  }

  private void store(List<Stored> batches) {
    stored.addAll(batches);
    messages.add(batches.size());
  }

  /** Returns the number of batches of each stored message. */
  public synchronized List<Integer> messages() {
    return List.copyOf(messages);
  }

  /** Returns the number of attempts that wait for {@link #confirmHeld}. */
  public synchronized int held() {
    return held.size();
  }

  public synchronized void confirmHeld() {
    while (!held.isEmpty()) {
      held.pop().run();
    }
  }

  /** Returns the stored batches, including repeats. */
  public synchronized List<Stored> stored() {
    return List.copyOf(stored);
  }

  /** Returns the stored messages in their order, heartbeats among them. */
  public synchronized List<Kept> kept() {
    return List.copyOf(kept);
  }

  /** Returns the stored heartbeats. */
  public synchronized List<Beat> beats() {
    return List.copyOf(beats);
  }

  /** Returns the ages of each attempt to send batches. */
  public synchronized List<String> ages() {
    return List.copyOf(ages);
  }

  /** Returns the number of attempts to send batches. */
  public synchronized int attempts() {
    return attempts;
  }

  @Override
  public List<BrokerQueue> queues() throws IOException {
    throw new IOException("not asked in these tests");
  }

  @Override
  public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) {
    return new DecisionsWatch.Newest(DecisionsWatch.Place.NONE, List.of());
  }

  @Override
  public void close() {}
}
