package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.traceetl.server.history.History;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The last hour of the whole fleet, whichever server is asked: {@code GET /api/history}, one
 * application minute by minute, oldest first; {@code GET /api/applications}, each application in
 * the last minutes that have ended, the one with most calls first.
 */
final class HistoryServlet extends HttpServlet {
  static final String HISTORY = "/api/history";
  static final String APPLICATIONS = "/api/applications";

  private static final long serialVersionUID = 1L;
  private static final JsonMapper JSON = new JsonMapper();
  private static final int DEFAULT_MINUTES = 5;
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 10_000;

  private final transient History history;

  HistoryServlet(History history) {
    this.history = history;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    ObjectNode answer;
    try {
      answer =
          request.getServletPath().equals(APPLICATIONS)
              ? applications(new Parameters(request.getParameterMap(), Set.of("minutes", "limit")))
              : minutes(
                  new Parameters(request.getParameterMap(), Set.of("application", "minutes")));
    } catch (IllegalArgumentException e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    }
    if (answer == null) {
      Problem.write(
          response,
          HttpServletResponse.SC_NOT_FOUND,
          "application = "
              + request.getParameter("application")
              + ": had no spans in the last hour; "
              + APPLICATIONS
              + " has those that had");
      return;
    }
    response.setContentType("application/json");
    response.getOutputStream().write(JSON.writeValueAsBytes(answer));
  }

  private ObjectNode applications(Parameters given) {
    int minutes = given.number("minutes", History.MINUTES - 1, DEFAULT_MINUTES);
    int limit = given.number("limit", MAX_LIMIT, DEFAULT_LIMIT);
    double seconds = TimeUnit.MINUTES.toSeconds(minutes);
    ObjectNode root = root().put("minutes", minutes);
    ArrayNode applications = root.putArray("applications");
    history.totals(minutes).stream()
        .limit(limit)
        .forEach(total ->
            putAll(
                applications
                    .addObject()
                    .put("application", total.application())
                    .put("callsPerSecond", total.interval().calls() / seconds)
                    .put("errorsPerSecond", total.interval().errors() / seconds),
                total.interval()));
    return root;
  }

  /** Null for an unknown application. */
  private ObjectNode minutes(Parameters given) {
    String application = given.text("application");
    if (application == null) {
      throw new IllegalArgumentException("application: must be given");
    }
    List<History.Interval> intervals =
        history.minutes(application, given.number("minutes", History.MINUTES, History.MINUTES));
    if (intervals.isEmpty()) {
      return null;
    }
    ObjectNode root = root().put("application", application);
    ArrayNode minutes = root.putArray("minutes");
    for (History.Interval interval : intervals) {
      putAll(
          minutes
              .addObject()
              .put("start", Instant.ofEpochMilli(interval.startMillis()).toString())
              .put("ended", interval.ended()),
          interval);
    }
    return root;
  }

  private ObjectNode root() {
    return JSON.createObjectNode().put("upToDate", history.upToDate());
  }

  private static void putAll(ObjectNode node, History.Interval interval) {
    node.put("calls", interval.calls())
        .put("errors", interval.errors())
        .put("durationMillis", interval.durationMillis())
        .put("p50Millis", orNull(interval.p50Millis()))
        .put("p95Millis", orNull(interval.p95Millis()))
        .put("p99Millis", orNull(interval.p99Millis()));
  }

  private static Double orNull(double millis) {
    return Double.isNaN(millis) ? null : (Double) millis;
  }
}
