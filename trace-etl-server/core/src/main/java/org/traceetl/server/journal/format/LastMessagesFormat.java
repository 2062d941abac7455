package org.traceetl.server.journal.format;

import org.traceetl.server.window.LastMessages;

/**
 * The payload of a repeated claim, in the types of {@link RecordWriter}: the last messages of the
 * newest windows.
 *
 * <pre>
 *   octet     version: 2
 *   unsigned  places n, n times, the lowest first:
 *     unsigned  end - end of the place before, of the first one the end
 *     unsigned  identity of the message before the end: CRC32C of its body, store time and master
 * </pre>
 *
 * <p>Readers before this format ignore the payload of a repeated claim. This reader ignores
 * payloads of other versions. Version 1 had the CRC32C of the body alone, which does not
 * distinguish a batch from a repeat at the same offset.
 */
public final class LastMessagesFormat {
  private static final int VERSION = 2;
  private static final long MAX_CHECKSUM = 0xFFFF_FFFFL;

  private LastMessagesFormat() {}

  static void encode(LastMessages read, RecordWriter out) {
    out.octet(VERSION);
    out.unsigned(read.size());
    long before = 0;
    for (int place = 0; place < read.size(); place++) {
      out.unsigned(read.end(place) - before);
      out.unsigned(Integer.toUnsignedLong(read.checksum(place)));
      before = read.end(place);
    }
  }

  /**
   * Reads the payload of a repeated claim, whose header has the last place as well.
   *
   * @return as {@link #decode(byte[])}
   */
  public static LastMessages decode(LogRecord claim) throws MalformedRecordException {
    LastMessages read = decode(claim.payload());
    if (read != null && !read.isEmpty() && read.lastEnd() != claim.header().from()) {
      throw new MalformedRecordException(
          "places up to " + read.lastEnd() + " in a record of " + claim.header());
    }
    return read;
  }

  /**
   * Reads a payload.
   *
   * @return null if it is empty or of another version
   * @throws MalformedRecordException if it is malformed
   */
  public static LastMessages decode(byte[] payload) throws MalformedRecordException {
    RecordReader in = new RecordReader(payload, 0, payload.length);
    if (payload.length == 0 || in.octet() != VERSION) {
      return null;
    }
    int places = in.count(2, "places");
    LastMessages read = LastMessages.NONE;
    long end = 0;
    for (int place = 0; place < places; place++) {
      end += in.upTo(Long.MAX_VALUE - end, "step of places");
      read = read.with(end, (int) in.upTo(MAX_CHECKSUM, "checksum"), LastMessages.MAX_WINDOWS);
    }
    in.end();
    return read;
  }
}
