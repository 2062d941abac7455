package org.traceetl.agent.spool;

import java.util.zip.CRC32C;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/**
 * A named, encoded batch in the spool. Its name is the agent's run that made it (maybe an earlier
 * one), its queue and its sequence.
 *
 * <p>The pipeline thread creates it and hands it over with its body. From then on the publisher
 * owns the body: it releases it, and reads it again as memory allows.
 */
public final class SpooledBatch {
  private final AgentIdentity agent;
  private final BrokerQueue queue;
  private final long sequence;
  private final long createdMillis;
  private final int count;
  private final int length;
  private final int crc;
  private byte[] body;

  // Guarded by the spool's lock.
  Segment segment;
  int ordinal;
  long offset;

  private volatile boolean settled;

  /**
   * Creates a batch without its body in memory.
   *
   * @param count of its spans or half-edges
   */
  SpooledBatch(
      AgentIdentity agent,
      BrokerQueue queue,
      long sequence,
      long createdMillis,
      int count,
      int length,
      int crc) {
    this.agent = agent;
    this.queue = queue;
    this.sequence = sequence;
    this.createdMillis = createdMillis;
    this.count = count;
    this.length = length;
    this.crc = crc;
  }

  /** Returns whether a frame may have it; asserted where a frame is written and read. */
  boolean isValid() {
    return agent.epoch() >= 1 && queue.id() >= 0 && sequence >= 0 && count >= 0;
  }

  /** Returns a copy with this body, to be written to another segment. */
  SpooledBatch with(byte[] itsBody) {
    SpooledBatch copy = new SpooledBatch(agent, queue, sequence, createdMillis, count, length, crc);
    copy.body = itsBody;
    return copy;
  }

  /** Returns the agent's run that made it; the run's epoch is part of the name. */
  public AgentIdentity agent() {
    return agent;
  }

  public BrokerQueue queue() {
    return queue;
  }

  /** Returns its number within the queue and the run; there may be gaps. */
  public long sequence() {
    return sequence;
  }

  /**
   * Returns when it was accepted, or when its last span ended if that waited for the agent, by
   * {@link Spool#nowMillis}.
   */
  public long createdMillis() {
    return createdMillis;
  }

  /** Returns the number of its spans or half-edges. */
  int count() {
    return count;
  }

  /** Returns the number of its spans; 0 if it has half-edges. */
  public int spans() {
    return queue.topic() == BrokerQueue.Topic.SPANS ? count : 0;
  }

  /** Returns the number of its half-edges; 0 if it has spans. */
  public int halfEdges() {
    return count - spans();
  }

  /** Returns the bytes of the body. */
  public int length() {
    return length;
  }

  /** Returns the CRC-32C of the body. */
  int crc() {
    return crc;
  }

  /** Returns whether these bytes are the body that was written. */
  boolean isBody(byte[] bytes) {
    CRC32C found = new CRC32C();
    found.update(bytes, 0, bytes.length);
    return bytes.length == length && (int) found.getValue() == crc;
  }

  /** Returns the message, which must not be changed; null while it is only on disk. */
  public byte[] body() {
    return body;
  }

  /** Sets the body in memory; null releases it. */
  public void body(byte[] now) {
    body = now;
  }

  /** Returns true once it is published or dropped. */
  public boolean isSettled() {
    return settled;
  }

  void settle() {
    settled = true;
  }
}
