package org.traceetl.agent.edge;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.proto.Demand;

/**
 * The attributes of spans that half-edges need: those that {@link EdgeRules} read, and the
 * dimensions that servers demand. Dimensions are numbered from 0. Immutable.
 */
public final class EdgeAttributes {
  /** Without dimensions. */
  public static final EdgeAttributes NO_DIMENSIONS = new EdgeAttributes(List.of());

  private static final int NONE = -1;

  private final byte[][] dimensions;
  // Bit n is set if a dimension's key has n bytes, modulo 64. Most other keys fail this test.
  private final long lengths;
  private final List<byte[]> all;
  private final KeySet ofCallers;
  private final KeySet ofConsumers;
  // Null without dimensions.
  private final KeySet ofServers;

  /**
   * @param dimensions keys of attributes of spans and resources, from {@link Demand#edgeKeys}
   */
  public EdgeAttributes(List<String> dimensions) {
    this.dimensions = dimensions.stream().map(key -> key.getBytes(UTF_8)).toArray(byte[][]::new);
    long bits = 0;
    for (byte[] key : this.dimensions) {
      bits |= 1L << key.length;
    }
    lengths = bits;
    all = withDimensions(PeerKeys.ALL);
    ofCallers = new KeySet(all);
    ofConsumers = new KeySet(withDimensions(PeerKeys.OPERATIONS));
    ofServers = dimensions.isEmpty() ? null : new KeySet(withDimensions(List.of()));
  }

  private List<byte[]> withDimensions(List<byte[]> others) {
    List<byte[]> keys = new ArrayList<>(others);
    keys.addAll(List.of(dimensions));
    return List.copyOf(keys);
  }

  /** Returns the number of dimensions. */
  public int dimensions() {
    return dimensions.length;
  }

  /** Returns the key of a dimension, as UTF-8. Read-only. */
  public byte[] dimension(int number) {
    return dimensions[number];
  }

  /** Returns the dimension with this key; below 0 without one. */
  public int find(byte[] key, int offset, int length) {
    return (lengths >>> length & 1) == 0 ? NONE : search(key, offset, length);
  }

  private int search(byte[] key, int offset, int length) {
    for (int number = 0; number < dimensions.length; number++) {
      byte[] dimension = dimensions[number];
      if (Arrays.equals(dimension, 0, dimension.length, key, offset, offset + length)) {
        return number;
      }
    }
    return NONE;
  }

  /** Returns the keys of all these attributes, as UTF-8. */
  public List<byte[]> readKeys() {
    return all;
  }

  /**
   * Returns the keys of the attributes that half-edges of spans of a kind need; null for none.
   *
   * @param kind 0 if it is not known yet
   */
  public KeySet additionalKeys(int kind) {
    return switch (kind) {
      case 0, EdgeRules.KIND_CLIENT, EdgeRules.KIND_PRODUCER -> ofCallers;
      case EdgeRules.KIND_CONSUMER -> ofConsumers;
      case EdgeRules.KIND_SERVER -> ofServers;
      default -> null;
    };
  }
}
