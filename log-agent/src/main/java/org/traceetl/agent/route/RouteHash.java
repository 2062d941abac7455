package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.traceetl.proto.XxHash64;

/**
 * The hashes that define routing, so that any program can compute the queue of a series. All are 64
 * bits wide, arithmetic wraps around, strings are UTF-8:
 *
 * <pre>
 * application = XXH64(name of the application, seed 0)
 * queue       = XXH64(name of the broker, seed = number of the queue)
 * series      = XXH64(template, seed = application + 8 * kind + status)
 * weight(a,b) = mix(a XOR b)
 * mix(h)      : h ^= h >>> 33; h *= 0xff51afd7ed558ccd; h ^= h >>> 33;
 *               h *= 0xc4ceb9fe1a85ec53; h ^= h >>> 33      (MurmurHash3's finaliser)
 * </pre>
 *
 * The template is the span's name without identifiers, as {@link org.traceetl.proto.NameTemplate}
 * writes it; learnt rules may then join it ({@link SeriesHash}). An application's candidates are
 * the k queues with the highest {@code weight(application, queue)}, compared unsigned; ties are
 * resolved by broker and number. A span goes to the candidate with the highest {@code
 * weight(series, queue)}. With random spread, {@code span ID XOR low half of the trace ID} replaces
 * {@code series}. Kind and status are numbered as in OTLP.
 *
 * <p>{@link org.traceetl.proto.EdgeSlots} defines the queues of half-edges.
 */
public final class RouteHash {
  private RouteHash() {}

  /** Returns the XXH64 of a range. */
  public static long bytes(byte[] bytes, int offset, int length, long seed) {
    return XxHash64.hash(bytes, offset, length, seed);
  }

  static long application(byte[] name, int offset, int length) {
    return bytes(name, offset, length, 0);
  }

  static long queue(BrokerQueue queue) {
    byte[] broker = queue.broker().getBytes(UTF_8);
    return bytes(broker, 0, broker.length, queue.id());
  }

  static long series(long application, byte[] name, int offset, int length, int kind, int status) {
    return bytes(name, offset, length, application + 8L * kind + status);
  }

  /** Returns the index of the queue with the highest weight; the first of equal ones. */
  static int heaviest(long hash, long[] queues) {
    int heaviest = 0;
    long heaviestWeight = weight(hash, queues[0]);
    for (int i = 1; i < queues.length; i++) {
      long weight = weight(hash, queues[i]);
      if (Long.compareUnsigned(weight, heaviestWeight) > 0) {
        heaviest = i;
        heaviestWeight = weight;
      }
    }
    return heaviest;
  }

  static long weight(long a, long b) {
    long h = a ^ b;
    h ^= h >>> 33;
    h *= 0xff51afd7ed558ccdL;
    h ^= h >>> 33;
    h *= 0xc4ceb9fe1a85ec53L;
    return h ^ (h >>> 33);
  }
}
