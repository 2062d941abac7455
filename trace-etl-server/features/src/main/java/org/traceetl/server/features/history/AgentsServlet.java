package org.traceetl.server.features.history;

import java.util.Set;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;

/** {@code GET /api/agents}: the agents whose batches counted in the last hour. */
final class AgentsServlet extends FleetServlet {
  static final String PATH = "/api/agents";

  private static final long serialVersionUID = 1L;

  AgentsServlet(History history) {
    super(history, Set.of("limit", "offset"));
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    History.AgentsOfFleet agents = history().agents();
    ListPage<Agents.View> page =
        ListPage.of(given, agents.agents(), any -> true, (one, other) -> 0);
    begin(out);
    out.writeNumberProperty("total", page.total());
    out.writeBooleanProperty("leftOut", agents.leftOut());
    out.writeArrayPropertyStart("agents");
    for (Agents.View agent : page.items()) {
      out.writeStartObject();
      out.writeStringProperty("agent", agent.agent().toString());
      out.writeStringProperty("started", timeOrNull(agent.startedMillis()));
      out.writeStringProperty("lastSeen", time(agent.seenMillis()));
      out.writeNumberProperty("batches", agent.batches());
      out.writeNumberProperty("queues", agent.queues());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }
}
