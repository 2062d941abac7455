package org.traceetl.agent.spool;

import java.util.zip.CRC32C;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/**
 * A named, encoded batch in the spool. It is named by the run of the agent that made it, which may
 * be an earlier one, its queue and its sequence.
 *
 * <p>The pipeline's thread makes it and hands it over with its body; from then on the body is the
 * publisher's, who lets go of it and reads it again as memory allows.
 */
public final class SpooledBatch {
  private final AgentIdentity agent;
  private final BrokerQueue queue;
  private final long sequence;
  private final long createdMillis;
  private final int spans;
  private final int length;
  private final int crc;
  private byte[] body;

  // Guarded by the spool's lock.
  Segment segment;
  int ordinal;
  long offset;

  private volatile boolean settled;

  SpooledBatch(
      AgentIdentity agent,
      BrokerQueue queue,
      long sequence,
      long createdMillis,
      int spans,
      int length,
      int crc,
      byte[] body) {
    this.agent = agent;
    this.queue = queue;
    this.sequence = sequence;
    this.createdMillis = createdMillis;
    this.spans = spans;
    this.length = length;
    this.crc = crc;
    this.body = body;
  }

  /** The same batch with its body, to be written once more. */
  SpooledBatch with(byte[] itsBody) {
    return new SpooledBatch(agent, queue, sequence, createdMillis, spans, length, crc, itsBody);
  }

  /** The run of the agent that made it: its epoch is part of the name. */
  public AgentIdentity agent() {
    return agent;
  }

  public BrokerQueue queue() {
    return queue;
  }

  /** Its number within the queue and the run; there may be gaps. */
  public long sequence() {
    return sequence;
  }

  /** When it was accepted, by {@link Spool#nowMillis}. */
  public long createdMillis() {
    return createdMillis;
  }

  public int spans() {
    return spans;
  }

  /** Bytes of the body. */
  public int length() {
    return length;
  }

  /** CRC-32C of the body. */
  int crc() {
    return crc;
  }

  /** Whether these bytes are what was written. */
  boolean isBody(byte[] bytes) {
    CRC32C found = new CRC32C();
    found.update(bytes, 0, bytes.length);
    return bytes.length == length && (int) found.getValue() == crc;
  }

  /** The message, not to be written to; null while it is on disk only. */
  public byte[] body() {
    return body;
  }

  /** Takes the body into memory, or with null lets go of it. */
  public void body(byte[] now) {
    body = now;
  }

  /** True once it is published or dropped. */
  public boolean isSettled() {
    return settled;
  }

  void settle() {
    settled = true;
  }
}
