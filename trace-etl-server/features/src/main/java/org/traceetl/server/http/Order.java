package org.traceetl.server.http;

import java.util.Comparator;
import java.util.function.ToDoubleFunction;

/** The directions in which a list is sorted. */
public enum Order {
  ASC,
  DESC;

  /** Returns the order by name in this direction. */
  public <T> Comparator<T> byName(Comparator<T> ascending) {
    return this == ASC ? ascending : ascending.reversed();
  }

  /** Returns the order by a number. Unknown numbers, NaN, come last in both directions. */
  public <T> Comparator<T> byNumber(ToDoubleFunction<T> number) {
    return (one, other) -> {
      double a = number.applyAsDouble(one);
      double b = number.applyAsDouble(other);
      boolean known = !Double.isNaN(a) && !Double.isNaN(b);
      // NaN is above all.
      return known && this == DESC ? Double.compare(b, a) : Double.compare(a, b);
    };
  }
}
