package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.proto.BundleReader;
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

  /** A stored batch. */
  public record Stored(BrokerQueue queue, long epoch, long sequence, int spans, byte[] body) {
    static Stored of(BrokerQueue queue, byte[] body) {
      SpanBatchReader reader = new SpanBatchReader();
      reader.wrap(body, 0, body.length);
      return new Stored(queue, reader.epoch(), reader.sequence(), reader.spanCount(), body);
    }
  }

  private final List<Stored> stored = new ArrayList<>();
  private final List<Integer> messages = new ArrayList<>();
  private final List<String> ages = new ArrayList<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Mode mode = Mode.CONFIRM;
  private Predicate<Stored> refused = batch -> false;
  private int mostBatches = Integer.MAX_VALUE;
  private String awayBroker = "";
  private String throwingBroker = "";
  private int attempts;

  public synchronized void mode(Mode now) {
    mode = now;
  }

  /** Makes this broker unreachable. */
  public synchronized void away(String broker) {
    awayBroker = broker;
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
  public synchronized void send(BrokerQueue queue, byte[] message, String itsAges, Answer answer) {
    attempts++;
    ages.add(itsAges);
    if (throwingBroker.equals(queue.broker())) {
      throw new IllegalStateException("a fault of the transport");
    }
    if (awayBroker.equals(queue.broker())) {
      answer.failed(Failure.CONNECT, "connection refused");
      return;
    }
    List<Stored> batches = batches(queue, message);
    if (batches.size() > mostBatches || batches.stream().anyMatch(refused)) {
      answer.refused("illegal message");
      return;
    }
    switch (mode) {
      case CONFIRM -> {
        store(batches);
        answer.confirmed();
      }
      case UNREACHABLE -> answer.failed(Failure.CONNECT, "connection refused");
      case STORE_AND_TIME_OUT -> {
        store(batches);
        answer.failed(Failure.TIMEOUT, "timed out");
      }
      case STORE_WITHOUT_REPLICA -> {
        store(batches);
        answer.failed(Failure.FLUSH_SLAVE_TIMEOUT, "no replica confirmed it");
      }
      case HOLD ->
          held.add(() -> {
            store(batches);
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

  /** Returns the ages of each attempt. */
  public synchronized List<String> ages() {
    return List.copyOf(ages);
  }

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
