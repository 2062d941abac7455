package org.traceetl.perf.bench.edges;

/** Why an edge of trace-etl differs from that of the Collector's service graph connector. */
public enum Rule {
  ABSENT_END("An end without spans has durations of 0 s in the Collector, and none in trace-etl."),
  DATABASE_DURATION(
      "The Collector shows the client's duration of a database call as the server's as well."),
  DATABASE_KEYS(
      "The Collector's databases are spans with db.name. Calls with other attributes of a database"
          + " go to a virtual node: db.system, or unknown."),
  DATABASE_NAME(
      "A database with peer.service has that name in trace-etl, db.name in the Collector."),
  CONSUMERS(
      "A message to several consumers is a request to each in trace-etl, to one of them in the"
          + " Collector."),
  CONNECTION_TYPE(
      "A client whose message a consumer receives is messaging_system in trace-etl. In the"
          + " Collector the span that arrives last decides."),
  PEER_NAME(
      "A caller without a partner goes to the host or topic that its attributes name in trace-etl,"
          + " to unknown in the Collector."),
  UNNAMED(
      "A caller without a partner and without a name for it is an unpaired span in trace-etl, a"
          + " request to unknown in the Collector."),
  WEIGHT(
      "A sampled request counts for all that it represents in trace-etl, once in the Collector."),
  NO_SERVICE_NAME(
      "Spans without service.name belong to unknown_service in trace-etl; the Collector skips"
          + " them.");

  private final String text;

  Rule(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
