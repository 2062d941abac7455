package org.traceetl.server.journal.format;

/**
 * One message of the log: a record or a part of it.
 *
 * @param index of the part, from 0
 * @param count parts of the record, 1 or above
 * @param message the whole message; the payload follows its header
 */
public record RecordChunk(RecordHeader header, int index, int count, byte[] message) {
  public int payloadLength() {
    return message.length - ChunkFormat.HEADER_BYTES;
  }
}
