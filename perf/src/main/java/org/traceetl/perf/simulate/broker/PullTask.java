package org.traceetl.perf.simulate.broker;

import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.traceetl.perf.simulate.world.World;

/**
 * Pulls a queue until it is cancelled: DefaultLitePullConsumerImpl.PullTaskImpl of RocketMQ 5.5.0.
 * A seek cancels it and starts another one.
 */
final class PullTask implements Runnable {
  /** PULL_TIME_DELAY_MILLS_WHEN_CACHE_FLOW_CONTROL. */
  private static final long FULL_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** PULL_TIME_DELAY_MILLS_WHEN_PAUSE. */
  private static final long PAUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** PULL_TIME_DELAY_MILLS_ON_EXCEPTION: the offset is unknown. */
  private static final long UNKNOWN_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** ClientConfig.pullTimeDelayMillsWhenException. */
  private static final long FAILURE_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final SimulatedConsumer consumer;
  private final PulledQueue of;
  private final World world;
  private boolean cancelled;

  PullTask(SimulatedConsumer consumer, PulledQueue of, World world) {
    this.consumer = consumer;
    this.of = of;
    this.world = world;
  }

  void cancel() {
    cancelled = true;
  }

  @Override
  public void run() {
    try {
      while (!cancelled && !of.dropped) {
        world.sleep(pull());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Pulls once; returns the pause before the next pull. */
  private long pull() throws InterruptedException {
    if (of.paused) {
      return PAUSED_NANOS;
    }
    if (consumer.isFull(of)) {
      return FULL_PAUSE_NANOS;
    }
    long offset;
    try {
      offset = nextOffset();
    } catch (MQClientException e) {
      return UNKNOWN_PAUSE_NANOS;
    }
    if (cancelled || of.dropped) {
      return 0;
    }
    try {
      Pulled pulled = consumer.pull(of.queue, offset);
      if (of.dropped || cancelled && !consumer.repeatsPull(of.queue)) {
        return 0;
      }
      if (pulled.status() == PullStatus.FOUND && of.seekOffset == PulledQueue.NONE) {
        consumer.received(of, pulled);
      }
      if (of.seekOffset == PulledQueue.NONE) {
        of.pullOffset = pulled.next();
      }
      return 0;
    } catch (MQClientException | MQBrokerException | RemotingException e) {
      return FAILURE_PAUSE_NANOS;
    }
  }

  private long nextOffset() throws MQClientException {
    if (of.seekOffset != PulledQueue.NONE) {
      long sought = of.seekOffset;
      of.seekOffset = PulledQueue.NONE;
      return sought;
    }
    return of.pullOffset == PulledQueue.NONE ? consumer.firstOffset(of.queue) : of.pullOffset;
  }
}
