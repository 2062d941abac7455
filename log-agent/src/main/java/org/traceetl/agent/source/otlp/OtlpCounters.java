package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** What the receiver left out or turned away before the pipeline saw it. Safe for any thread. */
public final class OtlpCounters {
  /** Why a request was turned away. */
  public enum Refusal {
    /** Larger than allowed, compressed or not. */
    TOO_LARGE,
    /** A path, method, content type or encoding that is not served. */
    UNSUPPORTED,
    /** HTTP that cannot be parsed, or a body that is not the gzip it claims to be. */
    MALFORMED,
    /** Not read whole in time. */
    TIMEOUT,
    /** The bytes being read, over all connections, were at their bound. */
    NO_ROOM,
    /** The bytes in flight of its sender were at their bound. */
    CLIENT_FULL,
    /** It showed no token, or none that is known. */
    UNAUTHENTICATED
  }

  /** Why a connection was turned away. */
  public enum ConnectionRefusal {
    /** The most allowed were open. */
    ALL,
    /** The most allowed of its sender were open. */
    CLIENT
  }

  private final LongAdder attributesLeftOut = new LongAdder();
  private final LongAdder requestsJoined = new LongAdder();
  private final LongAdder requestsRepeated = new LongAdder();
  private final LongAdder handshakesFailed = new LongAdder();
  private final LongAdder[] connectionsRefused = adders(ConnectionRefusal.values().length);
  private final LongAdder[] requestsRefused = adders(Refusal.values().length);

  OtlpCounters() {}

  /** Attributes that were left out because they were too many, too deeply nested or too long. */
  public long attributesLeftOut() {
    return attributesLeftOut.sum();
  }

  /** Connections closed at once because the most allowed were open. */
  public long connectionsRefused(ConnectionRefusal reason) {
    return connectionsRefused[reason.ordinal()].sum();
  }

  /** Requests turned away before the pipeline was asked. */
  public long requestsRefused(Refusal reason) {
    return requestsRefused[reason.ordinal()].sum();
  }

  /** Requests identical to one in progress; they get its outcome and are not counted again. */
  public long requestsJoined() {
    return requestsJoined.sum();
  }

  /** Requests equal to one answered of late, which got the same answer. */
  public long requestsRepeated() {
    return requestsRepeated.sum();
  }

  /** Connections that ended because the TLS handshake failed. */
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
