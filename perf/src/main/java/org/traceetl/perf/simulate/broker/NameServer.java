package org.traceetl.perf.simulate.broker;

import java.util.SortedMap;
import java.util.TreeMap;

/** The name server: which brokers are reachable where. RouteInfoManager of RocketMQ 5.5.0. */
final class NameServer {
  /** Its node in the network. */
  static final String NODE = "name-server";

  /** The ID under which a master registers: MixAll.MASTER_ID. */
  static final long MASTER = 0;

  /**
   * One broker name.
   *
   * @param addresses by ID of the replica; {@link #MASTER} is absent without a master
   * @param writable whether senders may use its queues
   */
  record Route(SortedMap<Long, String> addresses, boolean writable) {
    /** Returns the address of the master; null while no replica is the master. */
    String master() {
      return addresses.get(MASTER);
    }

    /** BrokerData.selectBrokerAddr: the master, else any other. */
    String any() {
      String master = master();
      return master == null ? addresses.firstEntry().getValue() : master;
    }
  }

  private SortedMap<String, Route> routes = new TreeMap<>();
  private SortedMap<String, Route> before = routes;
  private int removals;

  /** Registers a broker name; without addresses it is removed. */
  void register(String broker, Route route) {
    if (route.equals(routes.get(broker))) {
      return;
    }
    before = routes;
    SortedMap<String, Route> now = new TreeMap<>(routes);
    if (route.addresses().isEmpty()) {
      now.remove(broker);
      removals++;
    } else {
      now.put(broker, route);
    }
    routes = now;
  }

  /** Returns all routes by broker name; the map does not change. */
  SortedMap<String, Route> routes() {
    return routes;
  }

  /** Returns how often a broker name was removed. */
  int removals() {
    return removals;
  }

  /** Returns the routes before the last change. */
  SortedMap<String, Route> routesBefore() {
    return before;
  }
}
