package org.traceetl.server.features.history;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The operations of the live series of all queues, each name stored once. Confined to the
 * follower's thread.
 *
 * <p>Bounded: series that are created above the limit count as {@link Books#OTHER} of their
 * application as long as they live; if the application is above the limit too, as {@link
 * Books#OTHER} of all.
 */
final class Operations {
  private record Key(String application, String name, String kind) {
    Key(Operation operation) {
      this(operation.application, operation.name, operation.kind);
    }
  }

  private final int max;
  private final IntFunction<String> kinds;
  private final Map<Key, Operation> live = new HashMap<>();

  /**
   * @param max maximum number of named operations; as many may represent others
   * @param kinds returns the name of a kind
   */
  Operations(int max, IntFunction<String> kinds) {
    this.max = max;
    this.kinds = kinds;
  }

  /** Returns the operation of a new series of calls; {@link #release} must be called for it. */
  Operation retain(SeriesDefinition definition) {
    Key key = key(definition);
    if (!live.containsKey(key) && live.size() >= max) {
      key = new Key(key.application, Books.OTHER, History.UNKNOWN_KIND);
      if (!live.containsKey(key) && live.size() >= 2L * max) {
        key = new Key(Books.OTHER, Books.OTHER, History.UNKNOWN_KIND);
      }
    }
    Operation operation =
        live.computeIfAbsent(
            key, absent -> new Operation(absent.application, absent.name, absent.kind));
    operation.series++;
    return operation;
  }

  private Key key(SeriesDefinition definition) {
    String application = definition.values().get(SeriesDefinition.APPLICATION);
    String name = definition.values().get(SeriesDefinition.SPAN_NAME);
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    return definition.overflow() || name == null || kind == null
        ? new Key(application, Books.OTHER, History.UNKNOWN_KIND)
        : new Key(
            application, name, kinds.apply(Integer.parseInt(kind) % SeriesDefinition.OF_VARIANCE));
  }

  /** Ends one series of an operation; without series it is removed. */
  void release(Operation operation) {
    operation.series--;
    if (operation.series == 0) {
      live.remove(new Key(operation));
    }
  }
}
