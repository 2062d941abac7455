package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import java.util.TreeMap;

/**
 * The queue of each slot of {@link EdgeKey} by a list: that with the highest weight for the slot,
 * the first by broker, then number, of equal ones. A queue has a place among all of the list, in
 * this order. Every release computes the same, because both halves of an edge must reach one queue.
 * Immutable.
 *
 * <pre>
 * weight(slot, queue) = fmix64(slot XOR hash of the queue), compared unsigned
 * hash of a queue     = XXH64(name of the broker, seed = number of the queue)
 * </pre>
 */
public final class EdgeSlots {
  private final String[] brokers;
  private final int[] numbers;

  /** By slot; none without queues. */
  private final int[] places;

  public EdgeSlots(EdgeQueues list) {
    int size =
        (int) list.brokers().values().stream().flatMapToInt(EdgeQueues.Queues::numbers).count();
    brokers = new String[size];
    numbers = new int[size];
    long[] hashes = new long[size];
    int place = 0;
    for (Map.Entry<String, EdgeQueues.Queues> broker : new TreeMap<>(list.brokers()).entrySet()) {
      byte[] name = broker.getKey().getBytes(UTF_8);
      for (int number : broker.getValue().numbers().toArray()) {
        brokers[place] = broker.getKey();
        numbers[place] = number;
        hashes[place] = XxHash64.hash(name, 0, name.length, number);
        place++;
      }
    }
    places = new int[size == 0 ? 0 : EdgeKey.SLOTS];
    for (int slot = 0; slot < places.length; slot++) {
      places[slot] = heaviest(slot, hashes);
    }
  }

  private static int heaviest(int slot, long[] hashes) {
    int heaviest = 0;
    long most = EdgeKey.fmix64(slot ^ hashes[0]);
    for (int place = 1; place < hashes.length; place++) {
      long weight = EdgeKey.fmix64(slot ^ hashes[place]);
      if (Long.compareUnsigned(weight, most) > 0) {
        heaviest = place;
        most = weight;
      }
    }
    return heaviest;
  }

  /** Returns the number of queues. */
  public int queues() {
    return brokers.length;
  }

  /** Returns the broker of the queue at a place. */
  public String broker(int place) {
    return brokers[place];
  }

  /** Returns the number of the queue at a place. */
  public int number(int place) {
    return numbers[place];
  }

  /**
   * Returns the place of a slot's queue. Requires that there are queues.
   *
   * @param slot from {@link EdgeKey#slot}
   */
  public int place(int slot) {
    return places[slot];
  }
}
