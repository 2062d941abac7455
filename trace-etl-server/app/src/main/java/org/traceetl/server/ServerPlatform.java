package org.traceetl.server;

import java.security.SecureRandom;
import java.util.List;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.binding.Features;
import org.traceetl.server.http.FeatureType;

/**
 * What a server runs on. The main program passes {@link #system}; simulations pass their own.
 *
 * @param clocks time and threads
 * @param random thread-safe
 * @param brokers spans and journal
 * @param features the types of the server's features, with their stores
 */
public record ServerPlatform(
    Clocks clocks, RandomGenerator random, Brokers brokers, List<FeatureType> features) {
  /** Returns the machine and RocketMQ. */
  public static ServerPlatform system() {
    return new ServerPlatform(Clocks.SYSTEM, new SecureRandom(), Brokers.ROCKETMQ, Features.ALL);
  }
}
