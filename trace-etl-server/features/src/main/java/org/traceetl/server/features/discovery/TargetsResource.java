package org.traceetl.server.features.discovery;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.WithoutApplications;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The servers of the fleet, as Prometheus' HTTP service discovery reads them; every server returns
 * the same list. The only labels are scheme and shard, which the scrape's relabelling removes: any
 * other label would stay on the series and could change when a series moves.
 */
@RestController
final class TargetsResource {
  private final DiscoveryFeature fleet;

  TargetsResource(DiscoveryFeature fleet) {
    this.fleet = fleet;
  }

  record Group(List<String> targets, Map<String, String> labels) {}

  @GetMapping("/api/targets")
  @WithoutApplications
  List<Group> targets(@RequestParam(defaultValue = "1") @Allowed(max = Allowed.SHARDS) int shards) {
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
    List<Group> groups = new ArrayList<>();
    byScheme.forEach((scheme, targets) -> {
      for (int shard = 0; shard < shards; shard++) {
        Map<String, String> labels = new TreeMap<>(Map.of("__scheme__", scheme));
        if (shards > 1) {
          labels.put("__param_shard", shard + "/" + shards);
        }
        groups.add(new Group(targets, labels));
      }
    });
    return groups;
  }
}
