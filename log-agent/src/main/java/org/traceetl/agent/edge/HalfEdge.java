package org.traceetl.agent.edge;

import org.traceetl.proto.Limits;

/**
 * One side of a request between two processes, as its span shows it. Duration, status and sampling
 * threshold are those of the span. Mutable and reused; the peer's name is a slice of an array of
 * the span, valid as long as the span's own slices.
 *
 * <p>A waiting half is joined with the half of the other side, which has the same key: trace ID and
 * span ID of the client side. An immediate half needs no other one. It is a database call of a
 * client, or a request to a server or consumer without a parent, whose client is {@code user}.
 */
public final class HalfEdge {
  /** Side of the span of kind CLIENT. */
  public static final int CLIENT = 1;

  /** Side of the span of kind SERVER. */
  public static final int SERVER = 2;

  /** Side of the span of kind PRODUCER, which is a client side. */
  public static final int PRODUCER = 3;

  /** Side of the span of kind CONSUMER. */
  public static final int CONSUMER = 4;

  /** Connection type of a plain call. */
  public static final int PLAIN = 0;

  /** Connection type of a message. */
  public static final int MESSAGING_SYSTEM = 1;

  /** Connection type of a database call. */
  public static final int DATABASE = 2;

  /** Most bytes of a peer's name: the length of the longest host name. */
  public static final int MAX_PEER_BYTES = 255;

  private static final byte[] EMPTY = new byte[0];

  /** {@link #CLIENT}, {@link #SERVER}, {@link #PRODUCER} or {@link #CONSUMER}. */
  public int side;

  /** {@link #PLAIN}, {@link #MESSAGING_SYSTEM} or {@link #DATABASE}. */
  public int connectionType;

  /** Whether the half waits for the other side; else it is immediate. */
  public boolean waiting;

  /** The key's trace ID, whose halves are not both 0; 0 if the half is immediate. */
  public long traceIdHigh;

  public long traceIdLow;

  /** The key's span ID, that of the client side, not 0; 0 if the half is immediate. */
  public long clientSpanId;

  /**
   * When the message was sent or received, microseconds since 1970: the end of a producer's span,
   * the start of a consumer's. 0 if it is unknown, or the half waits for no message.
   */
  public long messageMicros;

  /** Array with the name of the other side, which may send no spans. */
  public byte[] peer = EMPTY;

  public int peerOffset;

  /** 0 if there is no name; at most {@link #MAX_PEER_BYTES}. */
  public int peerLength;

  /** Rank of the attribute that gave the name, while attributes are read. */
  int peerRank;

  void set(int side, int connectionType) {
    this.side = side;
    this.connectionType = connectionType;
  }

  void setImmediate() {
    setKey(false, 0, 0, 0);
    messageMicros = 0;
  }

  void setWaiting(long traceIdHigh, long traceIdLow, long clientSpanId) {
    setKey(true, traceIdHigh, traceIdLow, clientSpanId);
    messageMicros = 0;
  }

  /** Sets when the message was sent or received, nanoseconds since 1970. */
  void setMessage(long nanos) {
    long micros = nanos / 1_000;
    messageMicros = micros >= 0 && micros <= Limits.MAX_MESSAGE_MICROS ? micros : 0;
  }

  private void setKey(boolean waiting, long traceIdHigh, long traceIdLow, long clientSpanId) {
    this.waiting = waiting;
    this.traceIdHigh = traceIdHigh;
    this.traceIdLow = traceIdLow;
    this.clientSpanId = clientSpanId;
  }

  void setPeer(byte[] bytes, int offset, int length) {
    // Usually the same array is already there; a store costs more than the comparison.
    if (peer != bytes) {
      peer = bytes;
    }
    peerOffset = offset;
    peerLength = length;
  }

  /** Removes the peer's name, and with it the reference to the span's array. */
  public void forgetPeer() {
    setPeer(EMPTY, 0, 0);
  }
}
