package org.traceetl.perf.bench.edges;

/** What a page counts of an edge. */
public final class Tally {
  private long requests;
  private long failed;
  private final Durations server = new Durations();
  private final Durations client = new Durations();

  void add(Request request) {
    requests += request.times();
    failed += request.isFailed() ? request.times() : 0;
    add(server, request.serverNanos(), request.times());
    add(client, request.clientNanos(), request.times());
  }

  private static void add(Durations durations, long nanos, int times) {
    if (nanos != Request.UNKNOWN) {
      durations.add(nanos, times);
    }
  }

  void add(Tally other) {
    addRequests(other.requests);
    addFailed(other.failed);
    server.add(other.server);
    client.add(other.client);
  }

  void addRequests(long more) {
    requests += more;
  }

  void addFailed(long more) {
    failed += more;
  }

  Durations server() {
    return server;
  }

  Durations client() {
    return client;
  }

  public long requests() {
    return requests;
  }

  public long failed() {
    return failed;
  }

  /** Returns the number of requests whose duration at the server is known. */
  public long serverDurations() {
    return server.count();
  }

  /** Returns the number of requests whose duration at the client is known. */
  public long clientDurations() {
    return client.count();
  }

  /** Returns whether requests, failed requests and both histograms are equal. */
  public boolean equal(Tally other) {
    return requests == other.requests
        && failed == other.failed
        && server.equal(other.server)
        && client.equal(other.client);
  }
}
