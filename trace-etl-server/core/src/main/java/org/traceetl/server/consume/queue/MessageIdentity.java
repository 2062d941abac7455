package org.traceetl.server.consume.queue;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Identifies a stored message by its body, its store time and the master that stored it. So a batch
 * that was resent and stored at the same offset differs from the first one. Replicas have the same
 * values.
 */
final class MessageIdentity {
  private static final byte[] EMPTY = {};

  private MessageIdentity() {}

  /**
   * Returns the CRC32C of body, store time in milliseconds (8 bytes, big-endian), address and port
   * of the master that stored the message.
   */
  static int of(MessageExt message) {
    byte[] body = body(message);
    InetSocketAddress master = (InetSocketAddress) message.getStoreHost();
    byte[] address = master.getAddress().getAddress();
    ByteBuffer stored =
        ByteBuffer.allocate(Long.BYTES + address.length + Integer.BYTES)
            .putLong(message.getStoreTimestamp())
            .put(address)
            .putInt(master.getPort())
            .flip();
    CRC32C crc = new CRC32C();
    crc.update(body, 0, body.length);
    crc.update(stored);
    return (int) crc.getValue();
  }

  /** Returns the body; empty if absent. */
  static byte[] body(MessageExt message) {
    return message.getBody() == null ? EMPTY : message.getBody();
  }
}
