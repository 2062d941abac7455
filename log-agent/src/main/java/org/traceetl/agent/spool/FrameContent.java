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
import org.traceetl.agent.route.BrokerQueue.Topic;
import org.traceetl.agent.state.AgentIdentity;

/**
 * Encodes and decodes the content of frames: a byte for the kind, then the fields. Numbers are
 * big-endian; a text is preceded by its length in 4 bytes. Kinds 1, 2 and 5 have these fields:
 *
 * <pre>
 * agent    : 8 high, 8 low, 8 epoch
 * batches  : 4 count; for each: 1 topic (kind 5 only), text broker, 4 queue, 8 sequence,
 *            8 created (ms), 4 spans or half-edges, 4 bytes of the body, 4 CRC-32C of the body
 * requests : 4 count; for each: 8 hash, 8 other hash, 4 length, 8 answered (ms), 4 accepted,
 *            4 rejected, text reason
 * positions: 4 count; for each: text name, text content
 * the bodies, in the order of the batches
 * </pre>
 *
 * Dates are values of {@link Spool#nowMillis}. Topic 0 has spans, topic 1 half-edges; kind 5 is
 * written only for frames with half-edges, because earlier agents cannot read it. Kind 1 is the
 * first frame of a segment and has no batches; its positions replace those of earlier segments, and
 * its requests repeat theirs. Kind 3 lists settled batches of a segment: 4 count; for each: 4
 * ordinal of the batch in its segment, 4 spans. Kind 4 is the first frame of a segment that
 * replaces others: 8 lowest number, 8 number of the last. The lowest number includes what the first
 * of them replaced. If it replaces the active segment, kind 1 follows.
 */
final class FrameContent {
  static final int STATE = 1;
  static final int BATCHES = 2;
  static final int SETTLED = 3;
  static final int MERGED = 4;
  static final int BATCHES_OF_TOPICS = 5;

  /** Bytes of a request without its reason. */
  static final int REQUEST_BYTES = 40;

  static final int PLACE_BYTES = 8;

  /** Bytes of kind 1 without requests and positions. */
  static final int STATE_BYTES = 1 + 3 * Long.BYTES + 3 * Integer.BYTES;

  static final int MERGED_BYTES = 1 + 2 * Long.BYTES;

  final boolean isState;
  final List<SpooledBatch> batches = new ArrayList<>();
  final List<Answered> requests = new ArrayList<>();
  final List<Checkpoint.Position> places = new ArrayList<>();

  private FrameContent(boolean isState) {
    this.isState = isState;
  }

  /** Returns whether the head of its frame has the numbers of its batches and spans. */
  boolean isOf(FrameFile frame) {
    long spans = batches.stream().mapToLong(SpooledBatch::spans).sum();
    return batches.size() == frame.batches() && spans == frame.spans();
  }

  /**
   * Returns whether a segment may replace these ones; asserted where kind 4 is written and read. A
   * reader deletes what it replaces.
   */
  static boolean mayReplace(long first, long last, long number) {
    return first >= 1 && first <= last && last < number;
  }

  /** Returns the kind of a frame with these batches. */
  static int kind(Collection<SpooledBatch> batches) {
    boolean onlySpans = batches.stream().allMatch(batch -> batch.queue().topic() == Topic.SPANS);
    return onlySpans ? BATCHES : BATCHES_OF_TOPICS;
  }

  /** Writes the content without the bodies. */
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
      if (kind == BATCHES_OF_TOPICS) {
        to.putByte(batch.queue().topic().ordinal());
      }
      to.putText(batch.queue().broker()).putInt(batch.queue().id());
      to.putLong(batch.sequence()).putLong(batch.createdMillis()).putInt(batch.count());
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
   * Reads a frame of kind 1, 2 or 5.
   *
   * @param offset of the content in its file; from it the batches get the offsets of their bodies
   * @return null if it is not a valid frame of these kinds
   */
  static FrameContent read(ByteBuffer from, long offset) {
    try {
      int kind = from.get();
      if (kind != STATE && kind != BATCHES && kind != BATCHES_OF_TOPICS) {
        return null;
      }
      FrameContent content = new FrameContent(kind == STATE);
      content.read(from, kind == BATCHES_OF_TOPICS);
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

  private void read(ByteBuffer from, boolean hasTopics) {
    AgentIdentity agent = new AgentIdentity(from.getLong(), from.getLong(), from.getLong());
    for (int left = count(from); left > 0; left--) {
      Topic topic = hasTopics ? topic(from.get()) : Topic.SPANS;
      BrokerQueue queue = new BrokerQueue(topic, FrameBuffer.getText(from), from.getInt());
      long sequence = from.getLong();
      long createdMillis = from.getLong();
      int count = count(from);
      int length = count(from);
      batches.add(
          new SpooledBatch(agent, queue, sequence, createdMillis, count, length, from.getInt()));
      if (isState || !batches.getLast().isValid()) {
        throw new IllegalArgumentException("batch " + sequence + " of queue " + queue);
      }
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

  private static Topic topic(byte number) {
    return switch (number) {
      case 0 -> Topic.SPANS;
      case 1 -> Topic.EDGES;
      default -> throw new IllegalArgumentException("topic " + number);
    };
  }

  /**
   * Reads a number that must not be negative. It is untrusted, so it must not size an allocation.
   */
  private static int count(ByteBuffer from) {
    int count = from.getInt();
    if (count < 0) {
      throw new IllegalArgumentException("count " + count);
    }
    return count;
  }
}
