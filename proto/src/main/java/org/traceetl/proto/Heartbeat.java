package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A message without batches that an agent sends to a queue to which it has nothing else to send.
 * Its property {@link BatchAges#PROPERTY} contains the age from which batches may be missing, as
 * that of other messages. Agents send heartbeats while servers announce {@link Demand#HEARTBEATS}.
 * Immutable.
 *
 * <p>Layout, big-endian:
 *
 * <pre>
 *  0  magic    4 bytes  00 'T' 'E' 'A'
 *  4  version  1 byte   1
 *  5  agent    16 bytes identity, as in batches
 * 21  epoch    8 bytes  the agent's start, as in batches
 * 29  flags    1 byte   1: goodbye; other bits are ignored
 * 30  length   2 bytes  of the host, 0 to 255
 * 32  host     UTF-8
 *     bytes of later versions, which are skipped
 * </pre>
 *
 * @param agentHigh first half of the agent's identity
 * @param agentLow second half of the agent's identity
 * @param epoch the agent's start
 * @param goodbye whether the agent does not use the queue from now on, so that servers need not
 *     wait for its next message
 * @param host name of the agent's host, for people; any text of at most {@value #MAX_HOST_BYTES}
 *     bytes
 */
public record Heartbeat(long agentHigh, long agentLow, long epoch, boolean goodbye, String host) {
  /** Most bytes of the host's name in UTF-8. */
  public static final int MAX_HOST_BYTES = 255;

  private static final int MAGIC = 0x00544541;
  private static final int VERSION = 1;
  private static final int GOODBYE = 1;

  /** Bytes before the host. */
  private static final int HEADER_BYTES = Integer.BYTES + 1 + 3 * Long.BYTES + 1 + Short.BYTES;

  /** Creates a heartbeat; a host that is too long loses its last characters. */
  public Heartbeat {
    host = limited(host);
  }

  private static String limited(String host) {
    byte[] bytes = host.getBytes(UTF_8);
    int end = Math.min(bytes.length, MAX_HOST_BYTES);
    // A character ends where the next byte does not continue it.
    while (end < bytes.length && (bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, UTF_8);
  }

  /** Returns this agent's goodbye. */
  public Heartbeat asGoodbye() {
    return new Heartbeat(agentHigh, agentLow, epoch, true, host);
  }

  /** Returns whether a message is a heartbeat, valid or not. */
  public static boolean begins(byte[] message) {
    return message.length >= Integer.BYTES && ByteBuffer.wrap(message).getInt() == MAGIC;
  }

  /** Returns the message. */
  public byte[] encode() {
    byte[] name = host.getBytes(UTF_8);
    return ByteBuffer.allocate(HEADER_BYTES + name.length)
        .putInt(MAGIC)
        .put((byte) VERSION)
        .putLong(agentHigh)
        .putLong(agentLow)
        .putLong(epoch)
        .put((byte) (goodbye ? GOODBYE : 0))
        .putShort((short) name.length)
        .put(name)
        .array();
  }

  /**
   * Reads a message.
   *
   * @return empty if it is malformed, or has a version that this reader does not know
   */
  public static Optional<Heartbeat> read(byte[] message) {
    if (message.length < HEADER_BYTES || !begins(message)) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(message, Integer.BYTES, message.length - Integer.BYTES);
    if (in.get() != VERSION) {
      return Optional.empty();
    }
    long agentHigh = in.getLong();
    long agentLow = in.getLong();
    long epoch = in.getLong();
    boolean goodbye = (in.get() & GOODBYE) != 0;
    int length = Short.toUnsignedInt(in.getShort());
    if (length > MAX_HOST_BYTES || length > in.remaining()) {
      return Optional.empty();
    }
    String host = new String(message, in.position(), length, UTF_8);
    return Optional.of(new Heartbeat(agentHigh, agentLow, epoch, goodbye, host));
  }
}
