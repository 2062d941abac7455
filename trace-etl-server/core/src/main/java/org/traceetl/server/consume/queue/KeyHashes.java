package org.traceetl.server.consume.queue;

import java.util.Arrays;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.SymbolTable;

/**
 * Computes hashes of span keys for which there is no room. Their strings have no symbols, so it
 * hashes their texts, each once per batch. One owner thread.
 */
final class KeyHashes {
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final long UNKNOWN = 0;
  private static final long NONE = 1;

  private final Texts texts;
  private final SpanNames names;
  private final SymbolTable symbols;
  // By text of the batch
  private long[] nameHashes = new long[256];
  private long[] valueHashes = new long[256];

  /** Whether the hashes are those of the current batch. */
  private boolean fresh;

  KeyHashes(Texts texts, SpanNames names, SymbolTable symbols) {
    this.texts = texts;
    this.names = names;
    this.symbols = symbols;
  }

  void nextBatch() {
    fresh = false;
  }

  /** Returns the hash of a span's key. */
  long of(SpanColumns spans, int span) {
    if (!fresh) {
      clear();
    }
    long hash = spans.kindAndStatus(span);
    hash = mix(hash ^ name(spans.name(span)));
    for (int i = 0; i < spans.dimensions(); i++) {
      int entry = spans.dimension(span, i);
      hash = mix(hash ^ (entry == SpanColumns.NONE ? NONE : value(entry)));
    }
    return hash;
  }

  private void clear() {
    int entries = texts.size();
    if (nameHashes.length < entries) {
      nameHashes = new long[Math.max(entries, nameHashes.length * 2)];
      valueHashes = new long[nameHashes.length];
    }
    Arrays.fill(nameHashes, 0, entries, UNKNOWN);
    Arrays.fill(valueHashes, 0, entries, UNKNOWN);
    fresh = true;
  }

  private static long mix(long hash) {
    long mixed = hash * MIX;
    return mixed ^ mixed >>> 32;
  }

  private long name(int entry) {
    if (nameHashes[entry] == UNKNOWN) {
      names.resolve(entry, texts.buffer(entry), texts.offset(entry), texts.length(entry));
      nameHashes[entry] = symbols.fingerprint(names.buffer(), names.offset(), names.length());
    }
    return nameHashes[entry];
  }

  private long value(int entry) {
    if (valueHashes[entry] == UNKNOWN) {
      int length = texts.length(entry);
      valueHashes[entry] =
          length == 0
              ? NONE
              : symbols.fingerprint(texts.buffer(entry), texts.offset(entry), length);
    }
    return valueHashes[entry];
  }
}
