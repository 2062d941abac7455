package org.traceetl.agent.publish;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.traceetl.agent.spool.Spool;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Heartbeat;

/** Publishers that retry after milliseconds. */
public final class TestPublisher {
  /** Heartbeat of the agents that tests create. */
  static final Heartbeat SELF = new Heartbeat(7, 8, 1, false, "web3");

  private TestPublisher() {}

  /** Returns a publisher by the system's clock, which drops and reroutes nothing. */
  public static Publisher create(
      Transport transport, Spool spool, long mostBodyBytes, PublishMetrics metrics) {
    return new Publisher(
        options(mostBodyBytes, Long.MAX_VALUE / 2, Long.MAX_VALUE / 2),
        transport,
        spool,
        run -> 0,
        SELF,
        metrics,
        Clocks.SYSTEM,
        new SplittableRandom(1));
  }

  static PublisherOptions options(long mostBodyBytes, long mostAgeMillis, long rerouteAfterNanos) {
    return new PublisherOptions(
        mostBodyBytes,
        mostAgeMillis,
        rerouteAfterNanos,
        TimeUnit.MILLISECONDS.toNanos(10_200),
        TimeUnit.MILLISECONDS.toNanos(1),
        TimeUnit.MILLISECONDS.toNanos(5),
        0);
  }

  static PublisherOptions withLinger(PublisherOptions options, long lingerNanos) {
    return new PublisherOptions(
        options.mostBodyBytes(),
        options.mostAgeMillis(),
        options.rerouteAfterNanos(),
        options.answerNanos(),
        options.retryFirstNanos(),
        options.retryMaxNanos(),
        lingerNanos);
  }
}
