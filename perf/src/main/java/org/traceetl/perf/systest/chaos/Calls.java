package org.traceetl.perf.systest.chaos;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * The requests between services, and the expected edges: every request of which both spans are
 * accepted counts once, and so does every span of a server without a parent. The client's span of a
 * call and the server's may be in different requests, to different agents. Thread-safe.
 */
final class Calls {
  /** The client of a request without a parent. */
  static final String USER = "user";

  /** Calls without an answer; further ones get none. */
  private static final int MOST_WAITING = 1_000;

  private static final int CLIENT = 3;
  private static final int SERVER = 2;

  /** A direction of requests. */
  record Edge(String client, String server) implements Comparable<Edge> {
    @Override
    public int compareTo(Edge other) {
      int byClient = client.compareTo(other.client);
      return byClient != 0 ? byClient : server.compareTo(other.server);
    }

    @Override
    public String toString() {
      return client + " to " + server;
    }
  }

  /** Requests of an edge. */
  record Count(long requests, long failed) {
    Count plus(Count other) {
      return new Count(requests + other.requests, failed + other.failed);
    }
  }

  private final BlockingQueue<SentSpan> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final Map<String, SentSpan> callers = new TreeMap<>();
  private final Map<Edge, Count> edges = new TreeMap<>();

  /** Remembers a call that a server's span may answer. */
  void made(SentSpan span) {
    if (span.kind() == CLIENT && waiting.offer(span)) {
      synchronized (this) {
        callers.put(span.spanId(), span);
      }
    }
  }

  /** Returns a call for a server's span to answer; null if none waits. */
  SentSpan next() {
    return waiting.poll();
  }

  /** Expects the edge of a server's span that will be accepted. */
  synchronized void expect(SentSpan span) {
    if (span.kind() != SERVER) {
      return;
    }
    SentSpan caller = span.parentSpanId().isEmpty() ? null : callers.remove(span.parentSpanId());
    boolean isFailed =
        span.status() == SentSpan.ERROR || caller != null && caller.status() == SentSpan.ERROR;
    edges.merge(
        new Edge(caller == null ? USER : caller.service(), span.service()),
        new Count(1, isFailed ? 1 : 0),
        Count::plus);
  }

  synchronized Map<Edge, Count> edges() {
    return new TreeMap<>(edges);
  }
}
