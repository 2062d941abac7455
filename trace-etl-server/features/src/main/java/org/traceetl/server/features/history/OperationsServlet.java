package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /api/operations}: the operations of an application in the last minutes that have
 * ended.
 */
final class OperationsServlet extends FleetServlet {
  static final String PATH = "/api/operations";

  private static final long serialVersionUID = 1L;
  private static final Comparator<History.OperationTotal> BY_NAME =
      Comparator.comparing(History.OperationTotal::operation)
          .thenComparing(History.OperationTotal::kind);

  OperationsServlet(History history) {
    super(history, Set.of("application", "minutes", "search", "sort", "order", "limit", "offset"));
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    String application = given.name("application");
    int minutes = given.number("minutes", History.MINUTES - 1, DEFAULT_MINUTES);
    List<History.OperationTotal> operations = history().operations(application, minutes);
    if (operations == null) {
      throw unknown(application);
    }
    ListPage<History.OperationTotal> page =
        ListPage.of(
            given,
            operations,
            ListPage.searched(given, History.OperationTotal::operation),
            ListPage.order(given, History.OperationTotal::interval, BY_NAME));
    begin(out);
    out.writeStringProperty("application", application);
    out.writeNumberProperty("minutes", minutes);
    begin(out, page);
    out.writeArrayPropertyStart("operations");
    for (History.OperationTotal total : page.items()) {
      out.writeStartObject();
      out.writeStringProperty("operation", total.operation());
      out.writeStringProperty("kind", total.kind());
      putWithRates(out, total.interval());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }
}
