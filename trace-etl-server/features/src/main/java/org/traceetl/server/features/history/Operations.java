package org.traceetl.server.features.history;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SeriesDefinition;

/**
 * What the live series of all queues count, each name kept once. The follower's thread alone.
 *
 * <p>Bounded: so many are told apart. Series made while there are as many count as {@link
 * Books#OTHER} of their application for as long as they live; those of applications for which there
 * is no room either, as {@link Books#OTHER} in all.
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
   * @param max most that are told apart by name; there may be as many that stand for others
   * @param kinds what the number of a kind is called
   */
  Operations(int max, IntFunction<String> kinds) {
    this.max = max;
    this.kinds = kinds;
  }

  /** What a new series of calls counts; to be given back with {@link #release}. */
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
        : new Key(application, name, kinds.apply(Integer.parseInt(kind)));
  }

  /** Ends one series of an operation; without any it leaves. */
  void release(Operation operation) {
    operation.series--;
    if (operation.series == 0) {
      live.remove(new Key(operation));
    }
  }
}
