package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import org.traceetl.server.hotspot.Hotspots;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/hotspots}: which applications live on more queues than others, why, and since
 * when; after them those with the most load. Whichever server is asked.
 */
final class HotspotsServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;
  private static final JsonMapper JSON = new JsonMapper();

  private final transient Service service;

  HotspotsServlet(Service service) {
    this.service = service;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    try {
      new Parameters(request.getParameterMap(), Set.of());
    } catch (IllegalArgumentException e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    }
    response.setContentType("application/json");
    response.getOutputStream().write(JSON.writeValueAsBytes(answer(service.hotspots())));
  }

  private static ObjectNode answer(Hotspots hotspots) {
    ObjectNode root =
        JSON.createObjectNode()
            .put("state", hotspots.state().name().toLowerCase(Locale.ROOT).replace('_', '-'))
            .put("epoch", hotspots.epoch())
            .put("decided", time(hotspots.decidedMillis()))
            .put("looked", time(hotspots.loadMillis()))
            .put("queues", hotspots.queues())
            .put("maxToMean", orNull(hotspots.maxToMean()));
    ArrayNode applications = root.putArray("applications");
    for (Hotspots.Application application : hotspots.applications()) {
      applications
          .addObject()
          .put("application", application.application())
          .put("spansPerSecond", application.rate())
          .put("share", application.share())
          .put("queues", application.queues())
          .put("usedQueues", application.usedQueues())
          .put("heaviestQueueSpansPerSecond", application.heaviest())
          .put("spread", application.random() ? "random" : "series")
          .put("since", time(application.sinceMillis()))
          .put("pinned", application.pinned())
          .put("stuck", application.stuck())
          .put("lagSpans", application.lag());
    }
    ArrayNode behind = root.putArray("behind");
    for (Hotspots.Queue queue : hotspots.behind()) {
      behind
          .addObject()
          .put("queue", queue.queue().toString())
          .put("spansPerSecond", queue.rate())
          .put("recordedSpansPerSecond", queue.recorded())
          .put("lagMessages", queue.lagMessages())
          .put("lagSpans", orNull(queue.lag()))
          .put("growing", queue.growing());
    }
    return root;
  }

  /** Null for never. */
  private static String time(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis).toString();
  }

  private static Double orNull(double value) {
    return Double.isNaN(value) ? null : (Double) value;
  }
}
