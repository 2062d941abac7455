package org.traceetl.server.journal;

import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** What records bear. Whatever is not one throws {@link MalformedRecordException}. */
interface RecordPayloads {
  byte[] window(SealedWindow window);

  SealedWindow window(QueueId queue, byte[] payload) throws MalformedRecordException;

  byte[] snapshot(QueueImage image);

  QueueImage snapshot(byte[] payload) throws MalformedRecordException;

  /** The image of a queue without windows. */
  QueueImage empty();
}
