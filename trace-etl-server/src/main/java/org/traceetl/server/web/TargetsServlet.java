package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.traceetl.server.discovery.Endpoint;
import org.traceetl.server.discovery.Fleet;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/targets}: the servers of the fleet, as Prometheus' HTTP service discovery reads
 * them. Whichever server is asked. Its one label says how a port speaks and ends with the scrape's
 * relabelling: what else would stay on a series could change when the series moves.
 */
final class TargetsServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;
  private static final JsonMapper JSON = new JsonMapper();

  private final transient Fleet fleet;

  TargetsServlet(Fleet fleet) {
    this.fleet = fleet;
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
    Optional<List<Endpoint>> servers = fleet.servers();
    if (servers.isEmpty()) {
      // No 200: who asks keeps the list that it has.
      Problem.write(
          response,
          HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          "no broker has told yet which servers there are");
      return;
    }
    response.setContentType("application/json");
    response.getOutputStream().write(JSON.writeValueAsBytes(answer(servers.get())));
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
