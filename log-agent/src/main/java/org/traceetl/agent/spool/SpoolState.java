package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.state.AgentIdentity;

/**
 * The positions of sources and the answered requests, with which each new segment begins. Confined
 * to the writing thread, except the requests and {@link #bytes}.
 */
final class SpoolState {
  private static final int MOST_POSITIONS = 8_192;

  /** Bytes of a request on disk, with a short reason. */
  static final int REQUEST_BYTES = 48;

  private final SequencedMap<String, Checkpoint.Position> positions;
  private final AnsweredRequests answered;
  private final AgentIdentity agent;
  private final LongSupplier millis;
  private long positionBytes;
  private volatile long bytes;

  /**
   * @param positions by name, the last changed at the end
   * @param agent this run
   * @param millis the spool's clock
   */
  SpoolState(
      SequencedMap<String, Checkpoint.Position> positions,
      AnsweredRequests answered,
      AgentIdentity agent,
      LongSupplier millis) {
    this.positions = positions;
    this.answered = answered;
    this.agent = agent;
    this.millis = millis;
    positionBytes = positions.values().stream().mapToLong(SpoolState::bytesOf).sum();
    measure();
  }

  List<Checkpoint.Position> positions() {
    return List.copyOf(positions.values());
  }

  AnsweredRequests answered() {
    return answered;
  }

  /** Adds the checkpoints of a frame that is in the spool. */
  void add(Frame frame) {
    frame.requests().forEach(request -> answered.add(request.request(), request.answer()));
    frame.places().forEach(this::add);
    measure();
  }

  private void add(Checkpoint.Position position) {
    Checkpoint.Position before = positions.get(position.name());
    keep(positions, position);
    positionBytes -= before == null ? 0 : bytesOf(before);
    positionBytes += position.content().isEmpty() ? 0 : bytesOf(position);
    if (positions.size() > MOST_POSITIONS) {
      positionBytes -= bytesOf(positions.pollFirstEntry().getValue());
    }
  }

  /** Stores a position at the end of the map; an empty one is removed. */
  static void keep(SequencedMap<String, Checkpoint.Position> in, Checkpoint.Position position) {
    in.remove(position.name());
    if (!position.content().isEmpty()) {
      in.putLast(position.name(), position);
    }
  }

  private static long bytesOf(Checkpoint.Position position) {
    return FrameContent.PLACE_BYTES
        + position.name().getBytes(UTF_8).length
        + position.content().getBytes(UTF_8).length;
  }

  private void measure() {
    bytes =
        2L * FrameFile.HEAD_BYTES
            + FrameContent.MERGED_BYTES
            + FrameContent.STATE_BYTES
            + positionBytes
            + answered.bytes(FrameContent.REQUEST_BYTES);
  }

  /** Returns the bytes of a segment's start: a merge record and the state. Safe for any thread. */
  long bytes() {
    return bytes;
  }

  /**
   * Writes the content of a segment's first frame.
   *
   * @param segmentBytes of the rest of the segment; the requests have at most as many
   */
  void write(FrameBuffer to, long segmentBytes) {
    List<Answered> requests = answered.all(millis.getAsLong());
    int most = (int) (segmentBytes / REQUEST_BYTES);
    FrameContent.write(
        to,
        FrameContent.STATE,
        agent,
        List.of(),
        requests.subList(Math.max(0, requests.size() - most), requests.size()),
        positions.values());
  }
}
