package org.traceetl.perf.simulate.fault;

/**
 * The size of an installation.
 *
 * @param agents at least 1
 * @param servers usual number, at least 1; faults may start one more
 * @param brokers at least 1
 * @param replicas of each broker, at least 1
 */
public record Fleet(int agents, int servers, int brokers, int replicas) {
  boolean has(Target target) {
    int most =
        switch (target.role()) {
          case AGENT, BACKFILL -> agents;
          case SERVER -> servers + 1;
          case BROKER -> brokers;
          case REPLICA -> brokers * replicas;
          default -> Integer.MAX_VALUE;
        };
    return target.number() <= most;
  }
}
