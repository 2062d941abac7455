package org.traceetl.agent.publish;

import java.util.concurrent.TimeUnit;
import org.traceetl.agent.config.AgentConfig;

/**
 * Limits and times of the publisher.
 *
 * @param mostBodyBytes limit of the bytes of bodies in memory; each queue may exceed it by one
 *     body, and each bundle by its head
 * @param mostAgeMillis older batches are dropped
 * @param rerouteAfterNanos how long a broker is unreachable before new spans are routed to others
 * @param answerNanos time after which an answer is lost; well above the transport's timeout
 * @param retryFirstNanos pause of a queue after the first failure
 * @param retryMaxNanos longest pause of a queue
 * @param lingerNanos longest time that a batch waits for others to share a bundle
 */
public record PublisherOptions(
    long mostBodyBytes,
    long mostAgeMillis,
    long rerouteAfterNanos,
    long answerNanos,
    long retryFirstNanos,
    long retryMaxNanos,
    long lingerNanos) {

  public static PublisherOptions of(AgentConfig config) {
    return new PublisherOptions(
        config.pipeline().maxBytesInFlight(),
        TimeUnit.HOURS.toMillis(config.spool().maxAgeHours()),
        TimeUnit.SECONDS.toNanos(config.routing().rerouteAfterSeconds()),
        TimeUnit.MILLISECONDS.toNanos(10_000L + 2L * config.rocketmq().sendTimeoutMillis()),
        TimeUnit.MILLISECONDS.toNanos(config.rocketmq().retryFirstMillis()),
        TimeUnit.MILLISECONDS.toNanos(config.rocketmq().retryMaxMillis()),
        TimeUnit.MILLISECONDS.toNanos(config.rocketmq().lingerMillis()));
  }
}
