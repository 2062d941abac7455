package org.traceetl.server.features.hotspot;

import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/hotspots}: which applications live on more queues than others, why, and since
 * when; after them those with the most load. Whichever server is asked.
 */
public final class HotspotsServlet extends JsonServlet {
  public static final String PATH = "/api/hotspots";

  private static final long serialVersionUID = 1L;

  private final transient Supplier<Hotspots> current;

  /**
   * @param current gives null where hotspots are disabled
   */
  public HotspotsServlet(Supplier<Hotspots> current) {
    super(Set.of());
    this.current = current;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    Hotspots hotspots = current.get();
    out.writeTree(hotspots == null ? disabled() : answer(hotspots));
  }

  private static ObjectNode disabled() {
    ObjectNode root = JSON.createObjectNode().put("state", "disabled");
    root.putArray("applications");
    root.putArray("behind");
    return root;
  }

  private static ObjectNode answer(Hotspots hotspots) {
    ObjectNode root =
        JSON.createObjectNode()
            .put("state", hotspots.state().name().toLowerCase(Locale.ROOT).replace('_', '-'))
            .put("epoch", hotspots.epoch())
            .put("decided", timeOrNull(hotspots.decidedMillis()))
            .put("looked", timeOrNull(hotspots.loadMillis()))
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
          .put("since", timeOrNull(application.sinceMillis()))
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

  private static Double orNull(double value) {
    return Double.isNaN(value) ? null : (Double) value;
  }
}
