package org.traceetl.server.features.graph;

import com.google.common.math.LongMath;

/**
 * The spans of an application in some minutes.
 *
 * @param pairs requests of which both ends sent spans; twice for a request to itself
 * @param unpairedClients spans of callers whose other end did not come
 * @param unpairedServers spans of callees whose other end did not come
 */
record ServiceTotal(long pairs, long unpairedClients, long unpairedServers) {
  ServiceTotal plus(ServiceTotal other) {
    return new ServiceTotal(
        LongMath.saturatedAdd(pairs, other.pairs),
        LongMath.saturatedAdd(unpairedClients, other.unpairedClients),
        LongMath.saturatedAdd(unpairedServers, other.unpairedServers));
  }

  /** Returns the pairs divided by pairs and unpaired spans; null without both. */
  Double paired() {
    double all = (double) pairs + unpairedClients + unpairedServers;
    return all == 0 ? null : (Double) (pairs / all);
  }
}
