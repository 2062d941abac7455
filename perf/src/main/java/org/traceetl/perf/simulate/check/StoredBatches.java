package org.traceetl.perf.simulate.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;

/**
 * The batches of half-edges that brokers stored, by name. A batch may be stored again: its agent
 * got no answer, or the broker lost it. Its half-edges count once.
 */
final class StoredBatches {
  private record Name(String queue, long high, long low, long epoch, long sequence) {}

  private final EdgeBatchReader reader = new EdgeBatchReader();
  private final BundleReader bundle = new BundleReader();

  // Those of this round and of the round before; others are not stored again.
  private Map<Name, List<StoredHalf>> known = new HashMap<>();
  private Map<Name, List<StoredHalf>> before = Map.of();

  /**
   * Reads a message.
   *
   * @param added receives the half-edges of new batches
   * @throws IllegalArgumentException if it is none that an agent may send
   */
  void read(String queue, byte[] message, StoredHalf.StoreTime when, Consumer<StoredHalf> added) {
    if (Heartbeat.begins(message)) {
      return;
    }
    if (!BundleReader.begins(message, 0, message.length)) {
      readBatch(queue, message, 0, message.length, when, added);
      return;
    }
    require(bundle.wrap(message, 0, message.length));
    for (int part = 0; part < bundle.count(); part++) {
      readBatch(queue, message, bundle.offset(part), bundle.length(part), when, added);
    }
  }

  private static void require(Rejection rejection) {
    if (rejection != Rejection.NONE) {
      throw new IllegalArgumentException("an agent sent a message that is refused: " + rejection);
    }
  }

  private void readBatch(
      String queue,
      byte[] message,
      int offset,
      int length,
      StoredHalf.StoreTime when,
      Consumer<StoredHalf> added) {
    require(reader.wrap(message, offset, length));
    Name name =
        new Name(queue, reader.agentHigh(), reader.agentLow(), reader.epoch(), reader.sequence());
    List<StoredHalf> stored = known.getOrDefault(name, before.get(name));
    if (stored != null) {
      stored.forEach(half -> half.storedAgain(when));
      return;
    }
    List<StoredHalf> halves = new ArrayList<>();
    while (reader.nextHead()) {
      while (reader.next()) {
        halves.add(new StoredHalf(half(), queue, when));
      }
    }
    require(reader.rejection());
    known.put(name, halves);
    halves.forEach(added);
  }

  private HalfEdge half() {
    return new HalfEdge(
        text(reader.application()),
        reader.side(),
        reader.connectionType(),
        reader.peer() < 0 ? "" : text(reader.peer()),
        reader.isFailed(),
        reader.isWaiting(),
        reader.key(),
        reader.check(),
        reader.durationNanos(),
        reader.messageMicros(),
        HalfEdge.values(HalfEdge.DIMENSIONS.stream().map(this::value).toArray(String[]::new)));
  }

  private String value(String key) {
    for (int i = 0; i < reader.dimensionCount(); i++) {
      if (text(reader.dimensions()[2 * i]).equals(key)) {
        return text(reader.dimensions()[2 * i + 1]);
      }
    }
    return "";
  }

  private String text(int index) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }

  /** Begins a round: all batches are confirmed. */
  void settle() {
    before = known;
    known = new HashMap<>();
  }
}
