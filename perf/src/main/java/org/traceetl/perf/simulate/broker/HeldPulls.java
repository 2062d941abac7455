package org.traceetl.perf.simulate.broker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.traceetl.perf.simulate.world.World;

/** Pulls that wait at a broker for a message: PullRequestHoldService of RocketMQ 5.5.0. */
final class HeldPulls {
  /** BrokerConfig.shortPollingTimeMills of deploy/rocketmq/broker.conf. */
  private static final long SHORT_POLLING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private record Held(LogQueue queue, long offset, int most, long untilNanos, Reply.To<Pulled> to) {
    void answer(Pulled pulled) {
      to.answer(Reply.of(pulled));
    }
  }

  private final World world;
  private final MessageStore store;

  /** When the broker looks for messages. */
  private final long phaseNanos;

  private final TreeMap<LogQueue, List<Held>> held = new TreeMap<>();

  HeldPulls(World world, MessageStore store) {
    this.world = world;
    this.store = store;
    phaseNanos = world.random().nextLong(SHORT_POLLING_NANOS);
  }

  /** Pulls; if there is no message, waits for one. */
  void pull(
      LogQueue queue, long offset, int most, boolean correct, long holdNanos, Reply.To<Pulled> to) {
    Pulled now = store.pull(queue, offset, most, correct);
    if (now.status() != PullStatus.NO_NEW_MSG) {
      to.answer(Reply.of(now));
      return;
    }
    held.computeIfAbsent(queue, absent -> new ArrayList<>())
        .add(new Held(queue, offset, most, world.nanos() + holdNanos, to));
    Message unindexed = store.published(queue, offset);
    if (unindexed != null) {
      arrived(unindexed);
    }
  }

  /** Answers the pulls that wait for a message, at the next look of the broker. */
  void arrived(Message message) {
    List<Held> pulls = held.get(message.queue());
    if (pulls == null || pulls.isEmpty()) {
      return;
    }
    long earliest = Math.max(0, message.visibleNanos() - world.nanos());
    long phase = Math.floorMod(world.nanos() + earliest + phaseNanos, SHORT_POLLING_NANOS);
    world.after(earliest + SHORT_POLLING_NANOS - phase, () -> look(pulls));
  }

  private void look(List<Held> pulls) {
    List<Held> ready = new ArrayList<>(pulls.size());
    for (Iterator<Held> each = pulls.iterator(); each.hasNext(); ) {
      Held pull = each.next();
      // A pull beyond the end, after messages were lost, waits until its time is over.
      if (store.max(pull.queue()) > pull.offset() || pull.untilNanos() <= world.nanos()) {
        each.remove();
        ready.add(pull);
      }
    }
    ready.forEach(pull -> pull.answer(store.pull(pull.queue(), pull.offset(), pull.most(), true)));
  }

  /** Answers the pulls that waited long enough. Called every second. */
  void end() {
    for (List<Held> pulls : held.values()) {
      if (!pulls.isEmpty() && pulls.getFirst().untilNanos() <= world.nanos()) {
        look(pulls);
      }
    }
  }

  /** Closes the connections of all pulls. */
  void close() {
    List<Held> ended = new ArrayList<>();
    held.values().forEach(ended::addAll);
    held.values().forEach(List::clear);
    ended.forEach(pull -> pull.to().answer(Reply.closed()));
  }
}
