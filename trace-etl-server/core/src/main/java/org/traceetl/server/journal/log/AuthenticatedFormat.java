package org.traceetl.server.journal.log;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import javax.crypto.Mac;
import org.traceetl.server.window.QueueId;

/**
 * Messages with an authentication code, in one queue's log. All numbers are big-endian:
 *
 * <pre>
 *  0  4  "TEWJ"
 *  4  1  version, unsigned: 2
 *  5  1  kind: 0 a message of {@code ChunkFormat}, 1 the announcement of a key
 *  6  4  0
 * 10  4  CRC32C of the message without these four bytes
 * 14  8  queue as in {@code ChunkFormat}; 0 for an announcement
 * 22  1  length n of the key's ID
 * 23  n  ID of the key, ASCII
 *    32  HMAC-SHA256 of topic, broker, queue, kind, ID and content
 *    ..  content: the message, or the announced key's ID
 * </pre>
 *
 * <p>A server without keys treats it as a message of a later version and stops before it. The code
 * does not cover the offset, which is not known before the append: a message repeated at another
 * offset is refused by {@code JournalChain}. One thread at a time.
 */
public final class AuthenticatedFormat {
  public static final byte MESSAGE = 0;
  public static final byte KEY = 1;

  public static final int VERSION = 2;

  private static final int MAGIC = 0x5445574A;
  private static final int CHECKSUM_AT = 10;
  private static final int QUEUE_AT = 14;
  private static final int ID_LENGTH_AT = 22;
  private static final int ID_AT = 23;
  private static final int CODE_BYTES = 32;

  /** More than the length of any key ID. */
  private static final int MAX_ID_BYTES = 64;

  private static final int MAX_MACS = 16;

  /** The start of the input of every code. */
  private final byte[] place;

  private final Map<JournalKey, Mac> macs = new HashMap<>();

  /**
   * @param topic of the journal
   */
  public AuthenticatedFormat(String topic, QueueId queue) {
    byte[] topicBytes = topic.getBytes(UTF_8);
    byte[] brokerBytes = queue.broker().getBytes(UTF_8);
    byte[] context = "trace-etl journal 2".getBytes(US_ASCII);
    place =
        ByteBuffer.allocate(
                context.length + topicBytes.length + brokerBytes.length + 3 * Integer.BYTES)
            .put(context)
            .putInt(topicBytes.length)
            .put(topicBytes)
            .putInt(brokerBytes.length)
            .put(brokerBytes)
            .putInt(queue.queue())
            .array();
  }

  /** A message with an authentication code and the ID of its key. */
  public record Sealed(byte kind, String keyId, byte[] bytes, int contentAt) {
    public byte[] content() {
      byte[] content = new byte[bytes.length - contentAt];
      System.arraycopy(bytes, contentAt, content, 0, content.length);
      return content;
    }
  }

  public byte[] seal(byte kind, byte[] content, JournalKey key) {
    byte[] id = key.id().getBytes(US_ASCII);
    int contentAt = ID_AT + id.length + CODE_BYTES;
    byte[] message = new byte[contentAt + content.length];
    ByteBuffer out =
        ByteBuffer.wrap(message)
            .putInt(MAGIC)
            .put((byte) VERSION)
            .put(kind)
            .position(ID_LENGTH_AT)
            .put((byte) id.length)
            .put(id)
            .position(contentAt)
            .put(content);
    if (kind == MESSAGE && content.length >= ID_LENGTH_AT) {
      out.putLong(QUEUE_AT, ByteBuffer.wrap(content).getLong(QUEUE_AT));
    }
    out.put(contentAt - CODE_BYTES, code(new Sealed(kind, key.id(), message, contentAt), key));
    CRC32C crc = new CRC32C();
    crc.update(message, 0, CHECKSUM_AT);
    crc.update(message, QUEUE_AT, message.length - QUEUE_AT);
    out.putInt(CHECKSUM_AT, (int) crc.getValue());
    return message;
  }

  /** Returns whether bytes begin like a message with a code. */
  static boolean begins(byte[] bytes) {
    return bytes.length > Integer.BYTES
        && ByteBuffer.wrap(bytes).getInt() == MAGIC
        && bytes[Integer.BYTES] == VERSION;
  }

  /** Returns the parts of a message, none of them verified; null if it has no code. */
  public static Sealed parse(byte[] bytes) {
    if (!begins(bytes) || bytes.length < ID_AT) {
      return null;
    }
    int idLength = Byte.toUnsignedInt(bytes[ID_LENGTH_AT]);
    int contentAt = ID_AT + idLength + CODE_BYTES;
    if (idLength > MAX_ID_BYTES || bytes.length < contentAt) {
      return null;
    }
    return new Sealed(bytes[5], new String(bytes, ID_AT, idLength, US_ASCII), bytes, contentAt);
  }

  /** Returns whether the code is that of the key, in constant time. */
  public boolean verifies(Sealed sealed, JournalKey key) {
    byte[] code = new byte[CODE_BYTES];
    System.arraycopy(sealed.bytes(), sealed.contentAt() - CODE_BYTES, code, 0, CODE_BYTES);
    return MessageDigest.isEqual(code, code(sealed, key));
  }

  private byte[] code(Sealed sealed, JournalKey key) {
    if (macs.size() >= MAX_MACS) {
      macs.clear();
    }
    Mac mac = macs.computeIfAbsent(key, JournalKey::mac);
    mac.update(place);
    mac.update(sealed.kind());
    // Includes the length of the ID, so that content cannot pass for a part of an ID.
    mac.update(sealed.bytes(), ID_LENGTH_AT, sealed.contentAt() - CODE_BYTES - ID_LENGTH_AT);
    mac.update(sealed.bytes(), sealed.contentAt(), sealed.bytes().length - sealed.contentAt());
    return mac.doFinal();
  }
}
