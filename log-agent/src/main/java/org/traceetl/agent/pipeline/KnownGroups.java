package org.traceetl.agent.pipeline;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;

/**
 * The groups of the last ordinary spans, in a table of fixed size. A span whose group is known
 * needs no look-ups of its queue, its strings and its group. An entry is a guess, which the batch
 * compares with the span, so equal hashes only cost time. Confined to one thread.
 *
 * <p>If most spans of a resource are not found, the next ones are not looked for.
 */
final class KnownGroups {
  private static final int SLOT_BITS = 11;
  private static final int GROUP_BITS = 15;
  private static final int CANDIDATE_BITS = 4;
  private static final int TAG = -1 << GROUP_BITS + CANDIDATE_BITS;

  /**
   * Most misses of a resource that hits have not made up for. Each batch begins with many, because
   * it has no groups yet.
   */
  private static final int MOST_MISSES = 512;

  /** Misses that a hit makes up for: a hit saves several times what a miss costs. */
  private static final int MISSES_PER_HIT = 2;

  /** Spans that are not looked for after too many misses. */
  static final int PAUSE = 8_192;

  private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  // An entry: upper bits of the hash, candidate, group.
  private final int[] slots = new int[1 << SLOT_BITS];
  private long lastSeed;
  // Of the span that was looked for last.
  private int slot;
  private int tag;

  /** Makes entries of a resource's earlier batches unlikely to be found; call if it opens one. */
  void opened(RoutedResource resource) {
    lastSeed += FACTOR;
    resource.groupSeed(lastSeed);
  }

  /** Returns whether to look for the next span of the resource. */
  boolean isWorth(RoutedResource resource) {
    int misses = resource.groupMisses();
    if (misses <= MOST_MISSES) {
      return true;
    }
    // The last of a pause gives the resource another chance.
    resource.groupMisses(misses == MOST_MISSES + 1 ? 0 : misses - 1);
    return false;
  }

  /**
   * Adds a span to the group of an equal one.
   *
   * @param span without events, with demanded attributes only
   * @return the batch; null if the group is not known
   */
  OpenBatch add(SpanView span, RoutedResource resource) {
    long hash = hash(span, resource.groupSeed());
    slot = (int) (hash >>> Long.SIZE - SLOT_BITS);
    tag = (int) (hash >>> 16) & TAG;
    int entry = slots[slot];
    int misses = resource.groupMisses();
    if ((entry & TAG) == tag) {
      int candidate = entry >>> GROUP_BITS & (1 << CANDIDATE_BITS) - 1;
      OpenBatch batch = candidate < resource.candidates() ? resource.open(candidate) : null;
      if (batch != null
          && batch.addToGroup(entry & (1 << GROUP_BITS) - 1, span, resource.detail())) {
        resource.groupMisses(Math.max(0, misses - MISSES_PER_HIT));
        return batch;
      }
    }
    resource.groupMisses(misses == MOST_MISSES ? MOST_MISSES + PAUSE : misses + 1);
    return null;
  }

  /** Keeps the queue and the group of the span that {@link #add} did not find. */
  void put(int candidate, int group) {
    if (candidate >>> CANDIDATE_BITS == 0 && group >>> GROUP_BITS == 0) {
      slots[slot] = tag | candidate << GROUP_BITS | group;
    }
  }

  private static long hash(SpanView span, long seed) {
    byte[] name = span.name;
    int offset = span.nameOffset;
    int length = span.nameLength;
    byte[] dictionary = span.dictionary;
    long hash = seed ^ length << 8 ^ span.kind << 4 ^ span.status;
    if (name == dictionary) {
      hash ^= (long) offset << 32;
    } else {
      int last = offset + length - Long.BYTES;
      for (int at = offset; at < last; at += Long.BYTES) {
        hash = (hash ^ (long) WORD.get(name, at)) * FACTOR;
        hash ^= hash >>> 32;
      }
      hash ^= end(name, offset, length);
    }
    hash *= FACTOR;
    hash ^= hash >>> 32;
    Attributes attributes = span.attributes;
    for (int i = 0; i < attributes.size(); i++) {
      int valueLength = attributes.valueLength(i);
      int valueOffset = attributes.valueOffset(i);
      byte[] value = attributes.value(i);
      hash ^=
          valueLength + (value == dictionary ? valueOffset : end(value, valueOffset, valueLength));
      hash *= FACTOR;
      hash ^= hash >>> 32;
    }
    return hash * FACTOR;
  }

  /** Returns the last eight bytes; of a shorter string all. */
  private static long end(byte[] bytes, int offset, int length) {
    int end = offset + length;
    if (end >= Long.BYTES) {
      long word = (long) WORD.get(bytes, end - Long.BYTES);
      return length >= Long.BYTES ? word : length == 0 ? 0 : word >>> Long.SIZE - 8 * length;
    }
    long word = 0;
    for (int at = offset; at < end; at++) {
      word = word << 8 | bytes[at] & 0xff;
    }
    return word;
  }
}
