package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;

/** {@code GET /api/applications}: each application in the last minutes that have ended. */
final class ApplicationsServlet extends FleetServlet {
  static final String PATH = "/api/applications";

  private static final long serialVersionUID = 1L;
  private static final String FAILING = "failing";
  private static final String SLOW = "slow";

  private final double slowMillis;

  /**
   * @param slowMillis an application with a p99 of it or more is slow
   */
  ApplicationsServlet(History history, double slowMillis) {
    super(
        history,
        Set.of("minutes", "search", "filter", "sort", "order", "limit", "offset", "spark"));
    this.slowMillis = slowMillis;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    int minutes = given.number("minutes", History.MINUTES - 1, DEFAULT_MINUTES);
    boolean spark = given.flag("spark");
    ListPage<History.Total> page =
        ListPage.of(
            given,
            history().totals(minutes),
            ListPage.searched(given, History.Total::application).and(filter(given)),
            ListPage.order(
                given, History.Total::interval, Comparator.comparing(History.Total::application)));
    List<History.Spark> sparks =
        spark
            ? history().sparks(page.items().stream().map(History.Total::application).toList())
            : List.of();
    begin(out);
    out.writeNumberProperty("minutes", minutes);
    begin(out, page);
    out.writeArrayPropertyStart("applications");
    for (int i = 0; i < page.items().size(); i++) {
      History.Total total = page.items().get(i);
      out.writeStartObject();
      out.writeStringProperty("application", total.application());
      putWithRates(out, total.interval());
      if (spark) {
        put(out, sparks.get(i));
      }
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  private Predicate<History.Total> filter(Parameters given) {
    return switch (given.choice("filter", List.of(FAILING, SLOW), "")) {
      case FAILING -> total -> total.interval().errors() > 0;
      case SLOW -> total -> total.interval().p99Millis() >= slowMillis;
      default -> any -> true;
    };
  }

  private static void put(JsonGenerator out, History.Spark spark) {
    out.writeObjectPropertyStart("spark");
    out.writeName("calls");
    out.writeArray(spark.calls(), 0, spark.calls().length);
    out.writeName("errors");
    out.writeArray(spark.errors(), 0, spark.errors().length);
    out.writeEndObject();
  }
}
