package org.traceetl.server.decode;

import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;

/**
 * Decodes one batch of half-edges at a time into columns. A batch is read completely before any of
 * it can count, so a malformed one is lost as a whole and affects no other.
 *
 * <p>Halves are in groups that share a head. Group g has halves {@link #begin begin(g)} to {@link
 * #end end(g)}; those before {@link #endOfWaiting endOfWaiting(g)} wait for their partner and have
 * a key. Nothing is allocated after the arrays have grown to the largest batch. One owner thread.
 */
public final class EdgeDecoder implements MessageDecoder {
  private static final int NONE = -1;
  private static final int NOT_LOOKED_UP = -2;

  /** Texts of a group before its values: application, and name of the other end. */
  private static final int NAMES = 2;

  private final AttributeKeys dimensions;
  private final EdgeBatchReader reader = new EdgeBatchReader();
  private final BundleReader bundle = new BundleReader();

  private int groups;
  private int halves;

  // By group

  /** As many as {@link #width}: offset and length of each text that a head has. */
  private int[] slices;

  private byte[] sides = new byte[16];
  private byte[] connectionTypes = new byte[16];
  private boolean[] failed = new boolean[16];
  private long[] thresholds = new long[16];
  private int[] waitingEnds = new int[16];
  private int[] ends = new int[16];

  /** By dictionary index: the dimension whose key is the entry. */
  private int[] dimensionOf = new int[256];

  // By half

  private long[] keys = new long[256];
  private int[] checks = new int[256];
  private long[] durationsNanos = new long[256];
  private long[] messageMicros = new long[256];

  /**
   * @param dimensions keys of the dimensions of edges
   */
  public EdgeDecoder(List<String> dimensions) {
    this.dimensions = new AttributeKeys(dimensions);
    slices = new int[16 * width()];
  }

  /** Returns the numbers of a group in {@link #slices}. */
  private int width() {
    return 2 * (NAMES + dimensions.size());
  }

  @Override
  public Rejection decode(byte[] message, int offset, int length) {
    groups = 0;
    halves = 0;
    Rejection rejection = reader.wrap(message, offset, length);
    if (rejection != Rejection.NONE) {
      return rejection;
    }
    forgetDimensions();
    while (reader.nextHead()) {
      addGroup();
    }
    return reader.rejection();
  }

  private void forgetDimensions() {
    if (dimensions.size() > 0) {
      int entries = reader.dictionarySize();
      if (dimensionOf.length < entries) {
        dimensionOf = new int[Math.max(entries, 2 * dimensionOf.length)];
      }
      Arrays.fill(dimensionOf, 0, entries, NOT_LOOKED_UP);
    }
  }

  private void addGroup() {
    if (groups == ends.length) {
      growGroups(2 * groups);
    }
    int group = groups++;
    setTexts(slices(group));
    sides[group] = (byte) reader.side();
    connectionTypes[group] = (byte) reader.connectionType();
    failed[group] = reader.isFailed();
    thresholds[group] = reader.samplingThreshold();
    waitingEnds[group] = halves;
    while (reader.next()) {
      if (halves == keys.length) {
        growHalves(2 * halves);
      }
      keys[halves] = reader.key();
      checks[halves] = reader.check();
      durationsNanos[halves] = reader.durationNanos();
      messageMicros[halves] = reader.messageMicros();
      halves++;
      if (reader.isWaiting()) {
        waitingEnds[group] = halves;
      }
    }
    ends[group] = halves;
  }

  private void setTexts(int at) {
    Arrays.fill(slices, at, at + width(), 0);
    setText(at, reader.application());
    if (reader.peer() != NONE) {
      setText(at + 2, reader.peer());
    }
    for (int i = 0; i < reader.dimensionCount() && dimensions.size() > 0; i++) {
      int dimension = dimension(reader.dimensions()[2 * i]);
      if (dimension != AttributeKeys.NONE) {
        setText(at + 2 * (NAMES + dimension), reader.dimensions()[2 * i + 1]);
      }
    }
  }

  private void setText(int at, int entry) {
    slices[at] = reader.dictionaryOffset(entry);
    slices[at + 1] = reader.dictionaryLength(entry);
  }

  private int dimension(int key) {
    if (dimensionOf[key] == NOT_LOOKED_UP) {
      dimensionOf[key] =
          dimensions.find(
              reader.buffer(), reader.dictionaryOffset(key), reader.dictionaryLength(key));
    }
    return dimensionOf[key];
  }

  private void growGroups(int length) {
    slices = Arrays.copyOf(slices, length * width());
    sides = Arrays.copyOf(sides, length);
    connectionTypes = Arrays.copyOf(connectionTypes, length);
    failed = Arrays.copyOf(failed, length);
    thresholds = Arrays.copyOf(thresholds, length);
    waitingEnds = Arrays.copyOf(waitingEnds, length);
    ends = Arrays.copyOf(ends, length);
  }

  private void growHalves(int length) {
    keys = Arrays.copyOf(keys, length);
    checks = Arrays.copyOf(checks, length);
    durationsNanos = Arrays.copyOf(durationsNanos, length);
    messageMicros = Arrays.copyOf(messageMicros, length);
  }

  @Override
  public boolean isBundle(byte[] message) {
    return BundleReader.begins(message, 0, message.length);
  }

  @Override
  public boolean isHeartbeat(byte[] message) {
    return Heartbeat.begins(message);
  }

  @Override
  public BundleReader bundle() {
    return bundle;
  }

  @Override
  public Rejection decodeBundled(byte[] message, int part) {
    return decode(message, bundle.offset(part), bundle.length(part));
  }

  /** Agents do not compress batches. */
  @Override
  public Rejection decodeCompressed(byte[] body, int flags) {
    // Nothing in it is known.
    decode(body, 0, 0);
    return Rejection.MALFORMED;
  }

  @Override
  public int declaredSpans() {
    return reader.halfCount();
  }

  @Override
  public boolean isNamed() {
    return true;
  }

  @Override
  public long agentHigh() {
    return reader.agentHigh();
  }

  @Override
  public long agentLow() {
    return reader.agentLow();
  }

  @Override
  public long epoch() {
    return reader.epoch();
  }

  @Override
  public long sequence() {
    return reader.sequence();
  }

  /** Returns the number of groups. */
  public int groups() {
    return groups;
  }

  /** Returns the number of halves. */
  public int halves() {
    return halves;
  }

  /** Returns the first half of a group. */
  public int begin(int group) {
    return group == 0 ? 0 : ends[group - 1];
  }

  /** Returns the half after the last one of a group that waits for its partner. */
  public int endOfWaiting(int group) {
    return waitingEnds[group];
  }

  /** Returns the half after the last one of a group. */
  public int end(int group) {
    return ends[group];
  }

  /** Returns the array with the texts of groups. */
  public byte[] buffer() {
    return reader.buffer();
  }

  /**
   * Returns offsets and lengths of texts in {@link #buffer}, those of a group from {@link
   * #slices(int)} on: application, name of the other end, and the values of the dimensions in their
   * order. A text that it lacks has length 0. Read-only.
   */
  public int[] slices() {
    return slices;
  }

  /** Returns where the texts of a group begin in {@link #slices()}. */
  public int slices(int group) {
    return group * width();
  }

  /** Returns where the values of a group begin in {@link #slices()}. */
  public int values(int group) {
    return slices(group) + 2 * NAMES;
  }

  public int applicationOffset(int group) {
    return slices[slices(group)];
  }

  public int applicationLength(int group) {
    return slices[slices(group) + 1];
  }

  /** Returns the side: 1 client, 2 server, 3 producer, 4 consumer. */
  public int side(int group) {
    return sides[group];
  }

  /** Returns the connection type: 0 a call, 1 a message, 2 a call of a database. */
  public int connectionType(int group) {
    return connectionTypes[group];
  }

  public boolean isFailed(int group) {
    return failed[group];
  }

  /** Returns the threshold of sampling, below 2^56; 0 if each half represents only itself. */
  public long samplingThreshold(int group) {
    return thresholds[group];
  }

  public long key(int half) {
    return keys[half];
  }

  public int check(int half) {
    return checks[half];
  }

  /** Returns the array with all keys; that of an immediate half is 0. */
  public long[] keys() {
    return keys;
  }

  /** Returns the array with all checks. */
  public int[] checks() {
    return checks;
  }

  public long durationNanos(int half) {
    return durationsNanos[half];
  }

  /** Returns when the message was sent or received, microseconds since 1970; 0 if unknown. */
  public long messageMicros(int half) {
    return messageMicros[half];
  }
}
