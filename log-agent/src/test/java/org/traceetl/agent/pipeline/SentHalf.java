package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Rejection;

/**
 * What a server reads of a half-edge.
 *
 * @param namespace null without one
 * @param peer null without one
 * @param key 0 of an immediate half
 * @param check 0 of an immediate half
 * @param dimensions values by key
 */
record SentHalf(
    String application,
    String namespace,
    int side,
    boolean failed,
    int connectionType,
    String peer,
    long samplingThreshold,
    boolean waiting,
    long key,
    int check,
    long durationNanos,
    Map<String, String> dimensions) {
  /** Creates a half-edge without dimensions. */
  SentHalf(
      String application,
      String namespace,
      int side,
      boolean failed,
      int connectionType,
      String peer,
      long samplingThreshold,
      boolean waiting,
      long key,
      int check,
      long durationNanos) {
    this(
        application,
        namespace,
        side,
        failed,
        connectionType,
        peer,
        samplingThreshold,
        waiting,
        key,
        check,
        durationNanos,
        Map.of());
  }

  /** Reads a batch that must be valid. */
  static List<SentHalf> read(byte[] body) {
    List<SentHalf> halves = new ArrayList<>();
    EdgeBatchReader reader = new EdgeBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    while (reader.nextHead()) {
      while (reader.next()) {
        halves.add(of(reader));
      }
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(halves).hasSize(reader.halfCount());
    return halves;
  }

  /** Reads the half-edges of a frame, in the order of its batches. */
  static List<SentHalf> read(Frame frame) {
    List<SentHalf> halves = new ArrayList<>();
    bodies(frame).forEach(body -> halves.addAll(read(body)));
    assertThat(halves).hasSize((int) frame.halfEdges());
    return halves;
  }

  /** Returns the messages with half-edges of a frame. */
  static List<byte[]> bodies(Frame frame) {
    List<byte[]> bodies = new ArrayList<>();
    for (int i = 0; i < frame.size(); i++) {
      if (TestFrames.queues(frame).get(i).topic() == BrokerQueue.Topic.EDGES) {
        bodies.add(TestFrames.bodies(frame).get(i));
      }
    }
    return bodies;
  }

  private static SentHalf of(EdgeBatchReader reader) {
    return new SentHalf(
        text(reader, reader.application()),
        text(reader, reader.namespace()),
        reader.side(),
        reader.isFailed(),
        reader.connectionType(),
        text(reader, reader.peer()),
        reader.samplingThreshold(),
        reader.isWaiting(),
        reader.key(),
        reader.check(),
        reader.durationNanos(),
        dimensions(reader));
  }

  private static Map<String, String> dimensions(EdgeBatchReader reader) {
    Map<String, String> dimensions = new TreeMap<>();
    for (int i = 0; i < reader.dimensionCount(); i++) {
      String key = text(reader, reader.dimensions()[2 * i]);
      assertThat(dimensions.put(key, text(reader, reader.dimensions()[2 * i + 1]))).isNull();
    }
    return dimensions;
  }

  private static String text(EdgeBatchReader reader, int index) {
    return index < 0
        ? null
        : new String(
            reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }
}
