package org.traceetl.server.features.discovery;

import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.http.Refusal;
import org.traceetl.server.rocketmq.Endpoint;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/targets}: the servers of the fleet, as Prometheus' HTTP service discovery reads
 * them. Whichever server is asked. Its one label says how a port speaks and ends with the scrape's
 * relabelling: what else would stay on a series could change when the series moves.
 */
final class TargetsServlet extends JsonServlet {
  static final String PATH = "/api/targets";

  private static final long serialVersionUID = 1L;

  private final transient Fleet fleet;

  TargetsServlet(Fleet fleet) {
    super(Set.of());
    this.fleet = fleet;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    List<Endpoint> servers =
        fleet
            .servers()
            // No 200: who asks keeps the list that it has.
            .orElseThrow(() ->
                new Refusal(
                    HttpServletResponse.SC_SERVICE_UNAVAILABLE,
                    "no broker has told yet which servers there are"));
    out.writeTree(answer(servers));
  }

  private static ArrayNode answer(List<Endpoint> servers) {
    ArrayNode root = JSON.createArrayNode();
    TreeMap<String, ArrayNode> byScheme = new TreeMap<>();
    for (Endpoint server : servers) {
      byScheme
          .computeIfAbsent(
              server.scheme(),
              scheme -> {
                ObjectNode group = root.addObject();
                ArrayNode targets = group.putArray("targets");
                group.putObject("labels").put("__scheme__", scheme);
                return targets;
              })
          .add(server.target());
    }
    return root;
  }
}
