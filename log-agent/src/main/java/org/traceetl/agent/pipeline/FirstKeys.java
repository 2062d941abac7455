package org.traceetl.agent.pipeline;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.filter.ApplicationFilters;
import org.traceetl.agent.flow.KeySet;

/**
 * The span attribute keys to read first: those that servers demand, that filters read, and that
 * half-edges need. Resources with equal demand and filters share a set. Confined to the pipeline
 * thread.
 */
final class FirstKeys {
  /** Most keys of filters: resources whose rules read more have all attributes read. */
  private static final int MOST_OF_FILTERS = 256;

  private final Map<Source, KeySet> made = new HashMap<>();

  private record Source(ApplicationFilters filters, KeySet demanded, EdgeAttributes edges) {}

  /**
   * Returns the keys to read first.
   *
   * @param filters null for none
   * @param detail null if all spans are sent whole
   * @param edges what half-edges need; null if none is sent
   * @return null if all attributes must be read at once
   */
  KeySet of(ApplicationFilters filters, DemandedDetail detail, EdgeAttributes edges) {
    if (detail == null) {
      return null;
    }
    Source source = new Source(filters, detail.keySet(), edges);
    KeySet known = made.get(source);
    if (known == null && !made.containsKey(source)) {
      known = make(filters, detail, edges);
      made.put(source, known);
    }
    return known;
  }

  private static KeySet make(
      ApplicationFilters filters, DemandedDetail detail, EdgeAttributes edges) {
    List<byte[]> read = filters == null ? List.of() : filters.readKeys();
    if (read == null || read.size() > MOST_OF_FILTERS) {
      return null;
    }
    List<byte[]> keys = new ArrayList<>(detail.keys());
    keys.addAll(read);
    if (edges != null && filters != null) {
      // Filters read and change them; else they are additional.
      keys.addAll(edges.readKeys());
    }
    List<byte[]> additional = edges == null ? List.of() : edges.readKeys();
    return Stream.concat(keys.stream(), additional.stream()).anyMatch(FirstKeys::mayBeRepaired)
        ? null
        : keys.size() == detail.keys().size() ? detail.keySet() : new KeySet(keys);
  }

  /**
   * Returns whether a key has the replacement character: bytes that are not UTF-8 may become this
   * key, but a decoder compares them before it repairs them.
   */
  private static boolean mayBeRepaired(byte[] key) {
    for (int i = 0; i + 2 < key.length; i++) {
      if (key[i] == (byte) 0xef && key[i + 1] == (byte) 0xbf && key[i + 2] == (byte) 0xbd) {
        return true;
      }
    }
    return false;
  }

  void clear() {
    made.clear();
  }
}
