package org.traceetl.server.web;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Timer;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Feature;

/** The health of this server, and what the web UI needs to know about it. Never waits. */
@RestController
final class StatusResource {
  private static final double NANOS_PER_MILLI = 1e6;

  /** The fields of features that depend on no application. */
  private static final Set<String> WITHOUT_APPLICATIONS =
      Set.of("upToDate", "server", "servers", "index");

  private final ServerComponents server;
  private final ServerConfig config;

  StatusResource(ServerComponents server, ServerConfig config) {
    this.server = server;
    this.config = config;
  }

  record Timing(String name, long count, Double meanMillis, Double maxMillis) {
    static Timing of(Timer timer) {
      Timer.Total total = timer.total();
      boolean none = total.count() == 0;
      return new Timing(
          timer.name(),
          total.count(),
          none ? null : (Double) total.meanMillis(),
          none ? null : (Double) total.maxMillis());
    }
  }

  /** A map, as features add fields of their own. */
  @GetMapping("/api/status")
  Map<String, Object> status(Access access) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("version", server.telemetry().version());
    fields.put(
        "started", Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime()));
    fields.put("now", Instant.ofEpochMilli(server.clocks().millis()));
    fields.put("alive", server.components().healthy());
    fields.put("ready", server.components().ready());
    fields.put("missing", server.components().missing());
    fields.put("windowMillis", config.window().length().toMillis());
    fields.put("slowMillis", config.documents().slowerThan().toNanos() / NANOS_PER_MILLI);
    fields.put("profile", config.metrics().profile().id());
    fields.put("unit", lower(config.metrics().unit()));
    Map<String, Object> ofFeatures = new LinkedHashMap<>();
    server.components().of(Feature.class).forEach(feature -> feature.status(ofFeatures));
    if (!access.isToAll()) {
      ofFeatures.keySet().retainAll(WITHOUT_APPLICATIONS);
      fields.put("restricted", true);
    }
    fields.putAll(ofFeatures);
    fields.put("traceUrl", config.web().traceUrl());
    fields.put("signIn", lower(config.web().signIn()));
    fields.put("user", user());
    fields.put("timings", access.isToAll() ? timings() : List.of());
    return fields;
  }

  private List<Timing> timings() {
    return server.telemetry().timers().stream().map(Timing::of).toList();
  }

  /** Returns null if the request has no signed-in user. */
  private static String user() {
    Authentication user = SecurityContextHolder.getContext().getAuthentication();
    return user == null || user instanceof AnonymousAuthenticationToken ? null : user.getName();
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
