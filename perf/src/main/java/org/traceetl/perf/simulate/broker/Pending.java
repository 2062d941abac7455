package org.traceetl.perf.simulate.broker;

import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.World;

/** An answer that a simulated thread waits for, unless it is there already. */
final class Pending<T> implements Reply.To<T> {
  private final World world;
  private Reply<T> reply;
  private Exchange<Reply<T>> exchange;

  Pending(World world) {
    this.world = world;
  }

  @Override
  public void answer(Reply<T> given) {
    if (reply == null) {
      reply = given;
      if (exchange != null) {
        exchange.answer(given);
      }
    }
  }

  /** Returns the answer; null if the time ends first. */
  Reply<T> await(long timeoutNanos) throws InterruptedException {
    if (reply == null) {
      exchange = new Exchange<>(world);
      exchange.await(timeoutNanos);
    }
    return reply;
  }
}
