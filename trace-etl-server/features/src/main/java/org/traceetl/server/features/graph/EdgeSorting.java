package org.traceetl.server.features.graph;

import java.util.Comparator;
import org.traceetl.server.http.Order;

/** The parameters that sort edges. */
record EdgeSorting(Sort sort, Order order) {
  /** The columns to sort by. */
  enum Sort {
    CALLS,
    ERRORS,
    ERROR_RATIO,
    P95,
    CLIENT,
    SERVER;

    private double of(EdgeTotal edge) {
      return switch (this) {
        case CALLS, CLIENT, SERVER -> edge.requests();
        case ERRORS -> edge.failed();
        case ERROR_RATIO -> edge.errorRatio();
        case P95 -> edge.p95Millis();
      };
    }
  }

  private static final Comparator<EdgeTotal> CLIENT =
      Comparator.comparing(edge -> edge.name().client());
  private static final Comparator<EdgeTotal> SERVER =
      Comparator.comparing(
          edge -> edge.name().server(), Comparator.nullsLast(Comparator.naturalOrder()));
  private static final Comparator<EdgeTotal> CONNECTION =
      Comparator.comparing(edge -> edge.name().connection());
  private static final Comparator<EdgeTotal> BY_CLIENT =
      CLIENT.thenComparing(SERVER).thenComparing(CONNECTION);
  private static final Comparator<EdgeTotal> BY_SERVER =
      SERVER.thenComparing(CLIENT).thenComparing(CONNECTION);

  EdgeSorting {
    sort = sort == null ? Sort.CALLS : sort;
    boolean byName = sort == Sort.CLIENT || sort == Sort.SERVER;
    order = order != null ? order : byName ? Order.ASC : Order.DESC;
  }

  /** Returns the order: unknown numbers come last in both directions, equal ones by name. */
  Comparator<EdgeTotal> comparator() {
    return switch (sort) {
      case CLIENT -> order.byName(BY_CLIENT);
      case SERVER -> order.byName(BY_SERVER);
      default -> order.<EdgeTotal>byNumber(sort::of).thenComparing(BY_CLIENT);
    };
  }
}
