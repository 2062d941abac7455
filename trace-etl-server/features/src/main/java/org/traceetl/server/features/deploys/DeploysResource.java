package org.traceetl.server.features.deploys;

import java.time.Instant;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Cacheable;

/** The deploys of the last hour. */
@RestController
final class DeploysResource implements Cacheable {
  private final Versions versions;

  /**
   * @param versions null if this server does not compare them
   */
  DeploysResource(Versions versions) {
    this.versions = versions;
  }

  record Answer(boolean upToDate, List<Comparison> deploys) {}

  record Comparison(
      String application,
      String version,
      String previous,
      Instant start,
      Instant comparedUntil,
      double baselineMinutes,
      List<Signal> signals) {
    private static Comparison of(Deploy deploy) {
      return new Comparison(
          deploy.application(),
          deploy.version(),
          deploy.previous(),
          Instant.ofEpochMilli(deploy.fromMillis()),
          Instant.ofEpochMilli(deploy.untilMillis()),
          deploy.baselineMinutes(),
          deploy.differences().stream().map(Signal::of).toList());
    }
  }

  record Signal(String signal, String verdict, double difference, double lower, double upper) {
    private static Signal of(Difference difference) {
      return new Signal(
          difference.signal().label(),
          difference.verdict().label(),
          difference.estimate(),
          difference.lower(),
          difference.upper());
    }
  }

  @Override
  public String tag() {
    return versions().tag();
  }

  private Versions versions() {
    if (versions == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND,
          "this server does not compare versions: it requires trace-etl.deploys.enabled and"
              + " trace-etl.history.enabled, and a profile whose series have attributes");
    }
    return versions;
  }

  /** Lists the deploys of the last hour, the newest first. */
  @GetMapping("/api/deploys")
  Answer deploys(
      @RequestParam(required = false) @Allowed(max = Allowed.NAME) String application,
      Access access) {
    return new Answer(
        versions().isUpToDate(),
        versions()
            .deploys(name -> access.sees(name) && (application == null || application.equals(name)))
            .stream()
            .map(Comparison::of)
            .toList());
  }
}
