package org.traceetl.server.features.history;

import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Set;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.http.Refusal;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /api/history}: one application, or one of its operations, minute by minute, oldest
 * first.
 */
final class HistoryServlet extends FleetServlet {
  static final String PATH = "/api/history";

  private static final long serialVersionUID = 1L;
  private static final int MAX_KIND = 100;

  HistoryServlet(History history) {
    super(history, Set.of("application", "operation", "kind", "minutes", "buckets"));
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    String application = given.name("application");
    String operation = given.text("operation", Parameters.MAX_NAME);
    String kind = given.text("kind", MAX_KIND);
    int count = given.number("minutes", History.MINUTES, History.MINUTES);
    boolean buckets = given.flag("buckets");
    if (operation == null != (kind == null)) {
      throw new IllegalArgumentException(
          operation == null
              ? "kind = " + kind + ": needs operation"
              : "operation = " + operation + ": needs kind");
    }
    List<History.Minute> minutes =
        operation == null
            ? history().minutes(application, count)
            : history().minutes(application, operation, kind, count);
    if (minutes.isEmpty()) {
      throw operation == null
          ? unknown(application)
          : new Refusal(
              HttpServletResponse.SC_NOT_FOUND,
              "operation = "
                  + operation
                  + ", kind = "
                  + kind
                  + ": had no spans in the last hour; "
                  + OperationsServlet.PATH
                  + " has those of application "
                  + application
                  + " that had");
    }
    begin(out);
    out.writeStringProperty("application", application);
    if (operation != null) {
      out.writeStringProperty("operation", operation);
      out.writeStringProperty("kind", kind);
    }
    if (buckets) {
      double[] bounds = history().boundsMillis();
      out.writeName("boundsMillis");
      out.writeArray(bounds, 0, bounds.length);
    }
    out.writeArrayPropertyStart("minutes");
    for (History.Minute minute : minutes) {
      out.writeStartObject();
      out.writeStringProperty("start", time(minute.interval().startMillis()));
      out.writeBooleanProperty("ended", minute.interval().ended());
      put(out, minute.interval());
      if (buckets) {
        out.writeName("buckets");
        out.writeArray(minute.buckets(), 0, minute.buckets().length);
      }
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }
}
