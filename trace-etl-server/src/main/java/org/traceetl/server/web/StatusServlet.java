package org.traceetl.server.web;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.telemetry.Timer;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /api/status}: whether this server is well, and what a page needs to know of it. Never
 * waits.
 */
final class StatusServlet extends JsonServlet {
  static final String PATH = "/api/status";

  private static final long serialVersionUID = 1L;
  private static final double NANOS_PER_MILLI = 1e6;

  private final transient Service service;
  private final transient ServerConfig config;

  StatusServlet(Service service, ServerConfig config) {
    super(Set.of());
    this.service = service;
    this.config = config;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    out.writeStartObject();
    out.writeStringProperty("version", service.telemetry().version());
    out.writeStringProperty("server", service.fleet().here().map(Endpoint::target).orElse(null));
    out.writeStringProperty("started", time(ManagementFactory.getRuntimeMXBean().getStartTime()));
    out.writeStringProperty("now", time(System.currentTimeMillis()));
    out.writeBooleanProperty("alive", service.alive());
    Map<String, String> missing = new TreeMap<>(service.missing());
    out.writeBooleanProperty("ready", service.ready());
    out.writeObjectPropertyStart("missing");
    missing.forEach(out::writeStringProperty);
    out.writeEndObject();
    if (service.history() == null) {
      out.writeNullProperty("upToDate");
    } else {
      out.writeBooleanProperty("upToDate", service.history().upToDate());
    }
    out.writeNumberProperty("windowMillis", config.window().length().toMillis());
    out.writeNumberProperty(
        "slowMillis", config.documents().slowerThan().toNanos() / NANOS_PER_MILLI);
    out.writeStringProperty("profile", lower(config.metrics().profile()));
    out.writeStringProperty("unit", lower(config.metrics().unit()));
    out.writeObjectPropertyStart("index");
    out.writeStringProperty("type", lower(config.index().type()));
    out.writeBooleanProperty("healthy", service.index().healthy());
    out.writeEndObject();
    servers(out, service.fleet().servers());
    out.writeStringProperty("traceUrl", config.web().traceUrl());
    out.writeStringProperty("signIn", lower(config.web().signIn()));
    out.writeStringProperty("user", user());
    timings(out);
    out.writeEndObject();
  }

  private static void servers(JsonGenerator out, Optional<List<Endpoint>> servers) {
    if (servers.isEmpty()) {
      out.writeNullProperty("servers");
      return;
    }
    out.writeArrayPropertyStart("servers");
    servers.get().forEach(server -> out.writeString(server.target()));
    out.writeEndArray();
  }

  /** Null for who has not signed in. */
  private static String user() {
    Authentication user = SecurityContextHolder.getContext().getAuthentication();
    return user == null || user instanceof AnonymousAuthenticationToken ? null : user.getName();
  }

  private void timings(JsonGenerator out) {
    out.writeArrayPropertyStart("timings");
    for (Timer timer : service.telemetry().timers()) {
      Timer.Total total = timer.total();
      boolean none = total.count() == 0;
      out.writeStartObject();
      out.writeStringProperty("name", timer.name());
      out.writeNumberProperty("count", total.count());
      putOrNull(out, "meanMillis", none ? Double.NaN : total.meanMillis());
      putOrNull(out, "maxMillis", none ? Double.NaN : total.maxMillis());
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
