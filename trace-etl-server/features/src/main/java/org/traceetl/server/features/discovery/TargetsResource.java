package org.traceetl.server.features.discovery;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The servers of the fleet, as Prometheus' HTTP service discovery reads them; every server returns
 * the same list. The only label is the scheme, which the scrape's relabelling removes: any other
 * label would stay on the series and could change when a series moves.
 */
@RestController
final class TargetsResource {
  private final DiscoveryFeature fleet;

  TargetsResource(DiscoveryFeature fleet) {
    this.fleet = fleet;
  }

  record Group(List<String> targets, Map<String, String> labels) {}

  @GetMapping("/api/targets")
  List<Group> targets() {
    List<Endpoint> servers =
        fleet
            .servers()
            // Not 200: Prometheus then keeps the list that it has.
            .orElseThrow(() ->
                new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "no broker has returned the list of servers yet; try again later"));
    Map<String, List<String>> byScheme =
        servers.stream()
            .collect(
                Collectors.groupingBy(
                    Endpoint::scheme,
                    LinkedHashMap::new,
                    Collectors.mapping(Endpoint::target, Collectors.toList())));
    return byScheme.entrySet().stream()
        .map(group -> new Group(group.getValue(), Map.of("__scheme__", group.getKey())))
        .toList();
  }
}
