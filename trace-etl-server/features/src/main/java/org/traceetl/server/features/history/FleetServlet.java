package org.traceetl.server.features.history;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Set;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Refusal;
import tools.jackson.core.JsonGenerator;

/** A path of the API that is answered from the last hour of the whole fleet. */
abstract class FleetServlet extends JsonServlet {
  static final int DEFAULT_MINUTES = 5;

  private static final double MILLIS_PER_SECOND = 1e3;

  private static final long serialVersionUID = 1L;

  private final transient History history;

  /**
   * @param history null where it is disabled
   */
  FleetServlet(History history, Set<String> parameters) {
    super(parameters);
    this.history = history;
  }

  @Override
  protected String tag() {
    return history().tag();
  }

  History history() {
    if (history == null) {
      throw new Refusal(
          HttpServletResponse.SC_NOT_FOUND,
          "this server keeps no history: trace-etl.history.enabled = false");
    }
    return history;
  }

  /** Begins the answer. */
  void begin(JsonGenerator out) {
    out.writeStartObject();
    out.writeBooleanProperty("upToDate", history.upToDate());
  }

  static <T> void begin(JsonGenerator out, ListPage<T> page) {
    out.writeNumberProperty("total", page.total());
    out.writeNumberProperty("matching", page.matching());
  }

  static Refusal unknown(String application) {
    return new Refusal(
        HttpServletResponse.SC_NOT_FOUND,
        "application = "
            + application
            + ": had no spans in the last hour; /api/applications has those that had");
  }

  static void put(JsonGenerator out, Interval interval) {
    out.writeNumberProperty("calls", interval.calls());
    out.writeNumberProperty("errors", interval.errors());
    out.writeNumberProperty("durationMillis", interval.durationMillis());
    putOrNull(out, "p50Millis", interval.p50Millis());
    putOrNull(out, "p95Millis", interval.p95Millis());
    putOrNull(out, "p99Millis", interval.p99Millis());
    putOrNull(
        out,
        "observedSeconds",
        interval.ended() ? interval.observedMillis() / MILLIS_PER_SECOND : Double.NaN);
  }

  static void putWithRates(JsonGenerator out, Interval interval) {
    put(out, interval);
    out.writeNumberProperty("callsPerSecond", interval.perSecond(interval.calls()));
    out.writeNumberProperty("errorsPerSecond", interval.perSecond(interval.errors()));
  }
}
