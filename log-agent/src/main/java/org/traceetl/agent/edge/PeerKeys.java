package org.traceetl.agent.edge;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The keys of the attributes that half-edges need. The rank of a key is its index in {@link #ALL}.
 * Of those that name the other side of a request, the lowest rank has precedence; the keys of
 * {@link #OPERATIONS} name nothing.
 */
final class PeerKeys {
  private static final String DATABASE_PREFIX = "db.";
  private static final String DATABASE_NAMESPACE = "db.namespace";
  private static final String URL = "url.full";
  private static final String FORMER_URL = "http.url";

  private static final List<byte[]> NAMES =
      keys(
          "service.peer.name",
          "peer.service",
          DATABASE_NAMESPACE,
          "db.name",
          "messaging.destination.template",
          "messaging.destination.name",
          "messaging.destination",
          "server.address",
          "net.peer.name",
          URL,
          FORMER_URL,
          "db.system.name",
          "db.system",
          "messaging.system");

  /** The keys of the type of a messaging operation. */
  static final List<byte[]> OPERATIONS = keys("messaging.operation.type", "messaging.operation");

  /** The keys by rank, each of 4 to 63 bytes. */
  static final List<byte[]> ALL = Stream.of(NAMES, OPERATIONS).flatMap(List::stream).toList();

  /** Above all ranks: the rank of other keys. */
  static final int NONE = Byte.MAX_VALUE;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  // By rank: the key, its last four bytes, whether it is one of a database, and the rank of the
  // next key with the same length.
  private static final byte[][] KEYS = ALL.toArray(byte[][]::new);
  private static final int[] ENDS = new int[KEYS.length];
  private static final boolean[] IS_DATABASE = new boolean[KEYS.length];
  private static final byte[] NEXT = new byte[KEYS.length];

  // By length: the first rank.
  private static final byte[] FIRST =
      new byte[ALL.stream().mapToInt(key -> key.length).max().orElseThrow() + 1];
  // Bit n is set if a key has n bytes. Most other keys fail this test.
  private static final long LENGTHS;

  static {
    long lengths = 0;
    Arrays.fill(FIRST, (byte) NONE);
    for (int rank = KEYS.length - 1; rank >= 0; rank--) {
      byte[] key = KEYS[rank];
      ENDS[rank] = (int) INT.get(key, key.length - Integer.BYTES);
      IS_DATABASE[rank] = new String(key, US_ASCII).startsWith(DATABASE_PREFIX);
      NEXT[rank] = FIRST[key.length];
      FIRST[key.length] = (byte) rank;
      lengths |= 1L << key.length;
    }
    LENGTHS = lengths;
  }

  /** Rank of the database's name in the stable conventions. */
  static final int NAMESPACE = rank(DATABASE_NAMESPACE);

  private static final int URL_RANK = rank(URL);
  private static final int FORMER_URL_RANK = rank(FORMER_URL);
  private static final int FIRST_OPERATION = NAMES.size();

  private PeerKeys() {}

  private static List<byte[]> keys(String... keys) {
    return Stream.of(keys).map(key -> key.getBytes(US_ASCII)).toList();
  }

  private static int rank(String key) {
    return rank(key.getBytes(US_ASCII), 0, key.length());
  }

  /** Returns the rank of a slice; {@link #NONE} if it is not in the list. */
  static int rank(byte[] bytes, int offset, int length) {
    return (LENGTHS >>> length & 1) == 0 || length >= FIRST.length
        ? NONE
        : find(bytes, offset, length);
  }

  private static int find(byte[] bytes, int offset, int length) {
    int rank = FIRST[length];
    while (rank != NONE && !isKey(rank, bytes, offset, length)) {
      rank = NEXT[rank];
    }
    return rank;
  }

  /** Compares a slice with a key of the same length. */
  private static boolean isKey(int rank, byte[] bytes, int offset, int length) {
    // The ends of keys differ most.
    if ((int) INT.get(bytes, offset + length - Integer.BYTES) != ENDS[rank]) {
      return false;
    }
    byte[] key = KEYS[rank];
    int last = length - Long.BYTES;
    if (last < 0) {
      return (int) INT.get(bytes, offset) == (int) INT.get(key, 0);
    }
    for (int at = 0; at < last; at += Long.BYTES) {
      if ((long) LONG.get(bytes, offset + at) != (long) LONG.get(key, at)) {
        return false;
      }
    }
    // May overlap those of the loop.
    return (long) LONG.get(bytes, offset + last) == (long) LONG.get(key, last);
  }

  /** Returns whether the key at a rank of the list is one of a database. */
  static boolean isDatabase(int rank) {
    return IS_DATABASE[rank];
  }

  /**
   * Returns whether the value of the key at a rank of the list is a URL, whose host is the name.
   */
  static boolean isUrl(int rank) {
    return rank == URL_RANK || rank == FORMER_URL_RANK;
  }

  /** Returns whether the key at a rank of the list is one of {@link #OPERATIONS}. */
  static boolean isOperation(int rank) {
    return rank >= FIRST_OPERATION;
  }
}
