package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** Counts what the receiver left out or refused before the pipeline. Safe for any thread. */
public final class OtlpCounters {
  /** Why a request was refused. */
  public enum Refusal {
    /** Larger than allowed, compressed or not. */
    TOO_LARGE,
    /** A path, method, content type or encoding that is not served. */
    UNSUPPORTED,
    /** HTTP that cannot be parsed, or a body that is not the gzip it claims to be. */
    MALFORMED,
    /** Not complete within the timeout. */
    TIMEOUT,
    /** The bytes being read, over all connections, were at the limit. */
    NO_ROOM,
    /** The sender's bytes in flight were at the limit. */
    CLIENT_FULL,
    /** The request had no token, or an unknown one. */
    UNAUTHENTICATED
  }

  /** Why a connection was refused. */
  public enum ConnectionRefusal {
    /** The limit of all connections was reached. */
    ALL,
    /** The limit of connections of one sender was reached. */
    CLIENT
  }

  private final LongAdder attributesLeftOut = new LongAdder();
  private final LongAdder requestsJoined = new LongAdder();
  private final LongAdder requestsRepeated = new LongAdder();
  private final LongAdder handshakesFailed = new LongAdder();
  private final LongAdder[] connectionsRefused = adders(ConnectionRefusal.values().length);
  private final LongAdder[] requestsRefused = adders(Refusal.values().length);

  OtlpCounters() {}

  /** Returns the attributes left out because they were too many, too deeply nested or too long. */
  public long attributesLeftOut() {
    return attributesLeftOut.sum();
  }

  /** Returns the connections closed immediately because a limit was reached. */
  public long connectionsRefused(ConnectionRefusal reason) {
    return connectionsRefused[reason.ordinal()].sum();
  }

  /** Returns the requests refused before they were offered to the pipeline. */
  public long requestsRefused(Refusal reason) {
    return requestsRefused[reason.ordinal()].sum();
  }

  /** Returns the requests that shared the outcome of an identical one in progress. */
  public long requestsJoined() {
    return requestsJoined.sum();
  }

  /** Returns the requests that got the answer of an identical one answered recently. */
  public long requestsRepeated() {
    return requestsRepeated.sum();
  }

  /** Returns the connections that ended because the TLS handshake failed. */
  public long handshakesFailed() {
    return handshakesFailed.sum();
  }

  LongAdder requestsRepeatedAdder() {
    return requestsRepeated;
  }

  LongAdder requestsJoinedAdder() {
    return requestsJoined;
  }

  LongAdder attributesLeftOutAdder() {
    return attributesLeftOut;
  }

  void connectionRefused(ConnectionRefusal reason) {
    connectionsRefused[reason.ordinal()].increment();
  }

  void handshakeFailed() {
    handshakesFailed.increment();
  }

  void requestRefused(Refusal reason) {
    requestsRefused[reason.ordinal()].increment();
  }

  private static LongAdder[] adders(int count) {
    return Stream.generate(LongAdder::new).limit(count).toArray(LongAdder[]::new);
  }
}
