package org.traceetl.server.features.graph;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Cacheable;
import org.traceetl.server.http.ListPage;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Slice;
import org.traceetl.server.minutes.LastHour;

/** The service graph of the last hour. */
@RestController
final class ServicesResource implements Cacheable {
  private static final int MAX_STEPS = 2;
  private static final int MAX_LIMIT = 5_000;

  private final ServiceGraph graph;

  /**
   * @param graph null if it is disabled
   */
  ServicesResource(ServiceGraph graph) {
    this.graph = graph;
  }

  record Services(
      boolean upToDate,
      Instant from,
      Instant to,
      int minutes,
      int total,
      int matching,
      List<Edge> edges,
      List<Service> services) {}

  record Edge(
      String client,
      String server,
      String connection,
      long calls,
      long errors,
      double callsPerSecond,
      double errorsPerSecond,
      double errorRatio,
      Durations clientMs,
      Durations serverMs,
      Durations betweenMs) {
    static Edge of(EdgeTotal edge, ServiceGraph.View view) {
      EdgeName name = edge.name();
      EdgeSums sums = edge.sums();
      return new Edge(
          name.client(),
          name.server(),
          name.connection() == Connection.NONE ? null : name.connection().label(),
          edge.requests(),
          edge.failed(),
          view.perSecond(edge.requests()),
          view.perSecond(edge.failed()),
          edge.errorRatio(),
          sums.atClient(view.boundsMillis()),
          sums.atServer(view.boundsMillis()),
          sums.between(view.boundsMillis()));
    }
  }

  record Service(String name, double unpairedClients, double unpairedServers, Double paired) {
    static Service of(String name, ServiceGraph.View view) {
      ServiceTotal service = view.services().get(name);
      return new Service(
          name,
          view.perSecond(service.unpairedClients()),
          view.perSecond(service.unpairedServers()),
          service.paired());
    }
  }

  @Override
  public String tag() {
    return graph().tag();
  }

  /** Returns the graph, if it is enabled. */
  ServiceGraph graph() {
    if (graph == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND,
          "the service graph is disabled on this server: trace-etl.edges.enabled = false");
    }
    return graph;
  }

  /** Lists the edges of the last minutes that have ended, and the applications at their ends. */
  @GetMapping("/api/services")
  Services services(
      @RequestParam(defaultValue = "5") @Allowed(max = LastHour.MINUTES - 1) int minutes,
      @RequestParam(required = false) @Allowed(max = Allowed.NAME) String application,
      @RequestParam(required = false) @Allowed(max = MAX_STEPS) Integer steps,
      @RequestParam(required = false) @Allowed(max = Allowed.SEARCH) String search,
      @RequestParam(required = false) String connection,
      EdgeSorting sorting,
      @RequestParam(defaultValue = "500") @Allowed(max = MAX_LIMIT) int limit,
      @RequestParam(defaultValue = "0") @Allowed(min = 0, max = Slice.MAX_OFFSET) int offset,
      Access access) {
    if (steps != null && application == null) {
      throw new ParameterRefused("steps = " + steps + ": requires parameter application");
    }
    Predicate<EdgeTotal> isConnected = connected(connection);
    ServiceGraph.View view = graph().view(minutes);
    List<EdgeTotal> visible =
        access.isToAll()
            ? view.edges()
            : view.edges().stream().filter(edge -> edge.name().isVisible(access)).toList();
    Predicate<EdgeTotal> matches =
        searched(search)
            .and(isConnected)
            .and(near(application, steps == null ? 1 : steps, visible));
    ListPage<EdgeTotal> page = new Slice(limit, offset).of(visible, matches, sorting.comparator());
    return new Services(
        graph.isUpToDate(),
        Instant.ofEpochMilli(view.fromMillis()),
        Instant.ofEpochMilli(view.toMillis()),
        minutes,
        page.total(),
        page.matching(),
        page.items().stream().map(edge -> Edge.of(edge, view)).toList(),
        services(page.items(), view, access));
  }

  /** Passes the edges with this connection; all if it is null. */
  private static Predicate<EdgeTotal> connected(String label) {
    if (label == null) {
      return any -> true;
    }
    Connection sought =
        Arrays.stream(Connection.values())
            .filter(connection -> connection.label().equals(label))
            .findFirst()
            .orElseThrow(() ->
                new ParameterRefused(
                    "connection = "
                        + label
                        + ": must be one of "
                        + Arrays.stream(Connection.values())
                            .map(Connection::label)
                            .collect(Collectors.joining(", "))));
    return edge -> edge.name().connection() == sought;
  }

  private static Predicate<EdgeTotal> searched(String text) {
    return Slice.<EdgeTotal>searched(text, edge -> edge.name().client())
        .or(Slice.searched(text, edge -> edge.name().isRest() ? "" : edge.name().server()));
  }

  /**
   * Passes the edges around a node; all if it is null. The second step does not pass through {@code
   * user}: it stands for the callers of many applications.
   */
  private static Predicate<EdgeTotal> near(String node, int steps, List<EdgeTotal> edges) {
    if (node == null) {
      return any -> true;
    }
    Set<String> nodes = new HashSet<>(Set.of(node));
    if (steps == MAX_STEPS) {
      for (EdgeTotal edge : edges) {
        EdgeName name = edge.name();
        if (node.equals(name.client())) {
          nodes.add(name.server());
        } else if (node.equals(name.server()) && edge.clientSends()) {
          nodes.add(name.client());
        }
      }
      // The rest of a client is no node.
      nodes.remove(null);
    }
    return edge -> nodes.contains(edge.name().client()) || nodes.contains(edge.name().server());
  }

  /** Returns the applications at the ends of these edges, by name. */
  private static List<Service> services(
      List<EdgeTotal> edges, ServiceGraph.View view, Access access) {
    Set<String> names = new TreeSet<>();
    for (EdgeTotal edge : edges) {
      names.add(edge.name().client());
      if (!edge.name().isRest()) {
        names.add(edge.name().server());
      }
    }
    names.retainAll(view.services().keySet());
    return names.stream().filter(access::sees).map(name -> Service.of(name, view)).toList();
  }
}
