package org.traceetl.server.consume.queue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.telemetry.TargetInfo;
import org.traceetl.server.window.QueueId;

/**
 * Finds the target of each batch of one queue by a hash of what it shows, so that a batch of a
 * known target allocates nothing. If two targets have equal hashes, the second is not shown.
 * Confined to the worker that owns the queue.
 */
final class QueueTargets {
  private static final int INITIAL_SLOTS = 64;
  private static final int NONE = -1;
  private static final long PRIME = 0x100_0000_01b3L;

  /** Odd, so that distinct hashes stay distinct. */
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final QueueId queue;
  private final TargetInfo info;
  private final AttributeKeys keys;
  private final int maxValueBytes;
  private final long seed;

  /** Text of each attribute in the batch's resource. */
  private final int[] values;

  /** By slot; at most half of the slots is used. */
  private long[] hashes = new long[INITIAL_SLOTS];

  /** By slot; null in an unused one. */
  private TargetInfo.Target[] targets = new TargetInfo.Target[INITIAL_SLOTS];

  private int used;

  /**
   * @param seed of the hashes; random
   */
  QueueTargets(QueueId queue, TargetInfo info, int maxValueBytes, long seed) {
    this.queue = queue;
    this.info = info;
    this.maxValueBytes = maxValueBytes;
    this.seed = seed;
    keys = new AttributeKeys(info.attributes());
    values = new int[keys.size()];
  }

  /** Marks the target of the batch that was just decoded, and adds it if it is new. */
  void see(BatchDecoder decoder, long nowMillis) {
    Texts texts = decoder.texts();
    Arrays.fill(values, NONE);
    for (int i = 0; i < decoder.resourceAttributeCount(); i++) {
      int key = decoder.resourceAttributeKey(i);
      int number = keys.find(texts.buffer(key), texts.offset(key), texts.length(key));
      if (number != AttributeKeys.NONE) {
        values[number] = decoder.resourceAttributeValue(i);
      }
    }
    long hash = hash(seed, texts, decoder.application());
    for (int value : values) {
      hash = hash(hash, texts, value);
    }
    int slot = slot(hash);
    TargetInfo.Target target = targets[slot];
    if (target != null && target.seen(nowMillis)) {
      return;
    }
    if (info.hasRoom()) {
      add(hash, info.add(queue, shown(decoder), nowMillis));
    }
  }

  /** Adds a value that may be absent to a hash; different values never continue each other. */
  private static long hash(long before, Texts texts, int text) {
    if (text < 0) {
      return (before ^ NONE) * SPREAD;
    }
    byte[] buffer = texts.buffer(text);
    int from = texts.offset(text);
    int length = texts.length(text);
    long hash = (before ^ length) * SPREAD;
    for (int i = from; i < from + length; i++) {
      hash = (hash ^ buffer[i]) * PRIME;
    }
    return (hash ^ hash >>> 32) * SPREAD;
  }

  /** Returns the slot with this hash, or the free slot for it. */
  private int slot(long hash) {
    int mask = hashes.length - 1;
    int slot = (int) (hash >>> 32) & mask;
    while (targets[slot] != null && hashes[slot] != hash) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void add(long hash, TargetInfo.Target target) {
    if (target == null) {
      return;
    }
    int slot = slot(hash);
    if (targets[slot] == null) {
      used++;
    }
    hashes[slot] = hash;
    targets[slot] = target;
    if (2 * used > hashes.length) {
      rebuild();
    }
  }

  /** Drops removed targets, and makes room for twice the rest. */
  private void rebuild() {
    long[] oldHashes = hashes;
    TargetInfo.Target[] old = targets;
    int left = 0;
    for (TargetInfo.Target target : old) {
      left += target == null || target.isRemoved() ? 0 : 1;
    }
    int slots = Math.max(INITIAL_SLOTS, Integer.highestOneBit(left + 1) * 8);
    hashes = new long[slots];
    targets = new TargetInfo.Target[slots];
    used = 0;
    for (int i = 0; i < old.length; i++) {
      if (old[i] != null && !old[i].isRemoved()) {
        int slot = slot(oldHashes[i]);
        hashes[slot] = oldHashes[i];
        targets[slot] = old[i];
        used++;
      }
    }
  }

  private List<String> shown(BatchDecoder decoder) {
    List<String> shown = new ArrayList<>();
    shown.add(decoder.application() < 0 ? "" : decoder.text(decoder.application(), maxValueBytes));
    for (int value : values) {
      shown.add(value < 0 ? "" : decoder.text(value, maxValueBytes));
    }
    return List.copyOf(shown);
  }
}
