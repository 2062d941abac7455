package org.traceetl.agent.spool;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/**
 * The content of frames: a byte for its kind, then for kinds 1 and 2, numbers big-endian and texts
 * with their length as 4 bytes before them,
 *
 * <pre>
 * agent   : 8 high, 8 low, 8 epoch
 * batches : 4 how many; for each: text broker, 4 queue, 8 sequence, 8 created (ms), 4 spans,
 *           4 bytes of the body, 4 CRC-32C of the body
 * requests: 4 how many; for each: 8 hash, 8 other hash, 4 length, 8 answered (ms), 4 accepted,
 *           4 rejected, text reason
 * places  : 4 how many; for each: text name, text content
 * the bodies, in the order of the batches
 * </pre>
 *
 * Dates are those of {@link Spool#nowMillis}. Kind 1 stands first in a segment, has no batches, and
 * its requests and places take the place of all that earlier segments said. Kind 3 tells what of a
 * segment is settled: 4 how many; for each: 4 ordinal of the batch in its segment, 4 its spans.
 * Kind 4 stands first in a segment that others were copied into: 8 number of the first of them, 8
 * number of the last. It replaces them; if they were the newest, kind 1 follows.
 */
final class FrameContent {
  static final int STATE = 1;
  static final int BATCHES = 2;
  static final int SETTLED = 3;
  static final int MERGED = 4;

  /** Of a request besides its reason, and of a place besides its texts. */
  static final int REQUEST_BYTES = 40;

  static final int PLACE_BYTES = 8;

  /** Of kind 1 besides requests and places, and of kind 4. */
  static final int STATE_BYTES = 1 + 3 * Long.BYTES + 3 * Integer.BYTES;

  static final int MERGED_BYTES = 1 + 2 * Long.BYTES;

  final boolean isState;
  final List<SpooledBatch> batches = new ArrayList<>();
  final List<Answered> requests = new ArrayList<>();
  final List<Checkpoint.Position> places = new ArrayList<>();

  private FrameContent(boolean isState) {
    this.isState = isState;
  }

  /** Writes all but the bodies, and tells each batch where in the frame its own will be. */
  static void write(
      FrameBuffer to,
      int kind,
      AgentIdentity agent,
      Collection<SpooledBatch> batches,
      Collection<Answered> requests,
      Collection<Checkpoint.Position> places) {
    to.clear();
    to.putByte(kind).putLong(agent.high()).putLong(agent.low()).putLong(agent.epoch());
    to.putInt(batches.size());
    for (SpooledBatch batch : batches) {
      to.putText(batch.queue().broker()).putInt(batch.queue().id());
      to.putLong(batch.sequence()).putLong(batch.createdMillis()).putInt(batch.spans());
      to.putInt(batch.length()).putInt(batch.crc());
    }
    to.putInt(requests.size());
    for (Answered answered : requests) {
      Checkpoint.Request request = answered.request();
      Answer answer = answered.answer();
      to.putLong(request.hash()).putLong(request.otherHash()).putInt(request.length());
      to.putLong(answer.unixMillis()).putInt(answer.accepted()).putInt(answer.rejected());
      to.putText(answer.reason());
    }
    to.putInt(places.size());
    for (Checkpoint.Position place : places) {
      to.putText(place.name()).putText(place.content());
    }
  }

  /**
   * Reads a frame of kind 1 or 2.
   *
   * @param offset of the content in its file; the batches are told where their bodies are
   * @return null when it is no such frame
   */
  static FrameContent read(ByteBuffer from, long offset) {
    try {
      int kind = from.get();
      if (kind != STATE && kind != BATCHES) {
        return null;
      }
      FrameContent content = new FrameContent(kind == STATE);
      content.read(from);
      long at = offset + from.position();
      long bodies = 0;
      for (SpooledBatch batch : content.batches) {
        batch.offset = at + bodies;
        bodies += batch.length();
      }
      return bodies == from.remaining() ? content : null;
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return null;
    }
  }

  private void read(ByteBuffer from) {
    AgentIdentity agent = new AgentIdentity(from.getLong(), from.getLong(), from.getLong());
    for (int left = count(from); left > 0; left--) {
      BrokerQueue queue = new BrokerQueue(FrameBuffer.getText(from), from.getInt());
      long sequence = from.getLong();
      long createdMillis = from.getLong();
      int spans = count(from);
      int length = count(from);
      batches.add(
          new SpooledBatch(
              agent, queue, sequence, createdMillis, spans, length, from.getInt(), null));
    }
    for (int left = count(from); left > 0; left--) {
      Checkpoint.Request request =
          new Checkpoint.Request(from.getLong(), from.getLong(), from.getInt());
      long unixMillis = from.getLong();
      Answer answer = new Answer(unixMillis, count(from), count(from), FrameBuffer.getText(from));
      requests.add(new Answered(request, answer));
    }
    for (int left = count(from); left > 0; left--) {
      places.add(new Checkpoint.Position(FrameBuffer.getText(from), FrameBuffer.getText(from)));
    }
  }

  /** A number that is not negative. Lists are not allocated by it: it may be anything. */
  private static int count(ByteBuffer from) {
    int count = from.getInt();
    if (count < 0) {
      throw new IllegalArgumentException("count " + count);
    }
    return count;
  }
}
