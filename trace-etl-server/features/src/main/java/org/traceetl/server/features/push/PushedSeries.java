package org.traceetl.server.features.push;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.traceetl.server.window.SeriesDefinition;

/** The labels of a series, sorted as requests need them. Immutable. */
final class PushedSeries {
  static final Symbol NAME = Symbol.of("__name__");
  static final Symbol LE = Symbol.of("le");

  final SeriesDefinition definition;

  /** Sorted; without the name and {@link #LE}. */
  final Symbol[] names;

  final Symbol[] values;

  /** Number of labels before the name. */
  final int nameAt;

  /** Number of labels before {@code le}, without the name; at least {@link #nameAt}. */
  final int leAt;

  final long familyBits;
  final int shard;

  PushedSeries(
      SeriesDefinition definition,
      List<Symbol> names,
      List<Symbol> values,
      long familyBits,
      int shard) {
    this.definition = definition;
    this.familyBits = familyBits;
    this.shard = shard;
    int[] order =
        IntStream.range(0, names.size())
            .boxed()
            .sorted(Comparator.comparing(names::get, Symbol::compareTo))
            .mapToInt(Integer::intValue)
            .toArray();
    this.names = new Symbol[order.length];
    this.values = new Symbol[order.length];
    int before = 0;
    int beforeLe = 0;
    for (int i = 0; i < order.length; i++) {
      this.names[i] = names.get(order[i]);
      this.values[i] = values.get(order[i]);
      before += this.names[i].compareTo(NAME) < 0 ? 1 : 0;
      beforeLe += this.names[i].compareTo(LE) < 0 ? 1 : 0;
    }
    nameAt = before;
    leAt = beforeLe;
  }
}
