package org.traceetl.server.web;

import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Set;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Timer;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /api/status}: whether this server is well, and what a page needs to know of it. Never
 * waits.
 */
final class StatusServlet extends JsonServlet {
  static final String PATH = "/api/status";

  private static final long serialVersionUID = 1L;
  private static final double NANOS_PER_MILLI = 1e6;

  private final transient AssembledServer server;
  private final transient ServerConfig config;

  StatusServlet(AssembledServer server, ServerConfig config) {
    super(Set.of());
    this.server = server;
    this.config = config;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    out.writeStartObject();
    out.writeStringProperty("version", server.telemetry().version());
    out.writeStringProperty("started", time(ManagementFactory.getRuntimeMXBean().getStartTime()));
    out.writeStringProperty("now", time(System.currentTimeMillis()));
    out.writeBooleanProperty("alive", server.components().healthy());
    out.writeBooleanProperty("ready", server.components().ready());
    out.writeObjectPropertyStart("missing");
    server.components().missing().forEach(out::writeStringProperty);
    out.writeEndObject();
    out.writeNumberProperty("windowMillis", config.window().length().toMillis());
    out.writeNumberProperty(
        "slowMillis", config.documents().slowerThan().toNanos() / NANOS_PER_MILLI);
    out.writeStringProperty("profile", config.metrics().profile().id());
    out.writeStringProperty("unit", lower(config.metrics().unit()));
    server.components().of(Feature.class).forEach(feature -> feature.status(out));
    out.writeStringProperty("traceUrl", config.web().traceUrl());
    out.writeStringProperty("signIn", lower(config.web().signIn()));
    out.writeStringProperty("user", user());
    timings(out);
    out.writeEndObject();
  }

  /** Null for who has not signed in. */
  private static String user() {
    Authentication user = SecurityContextHolder.getContext().getAuthentication();
    return user == null || user instanceof AnonymousAuthenticationToken ? null : user.getName();
  }

  private void timings(JsonGenerator out) {
    out.writeArrayPropertyStart("timings");
    for (Timer timer : server.telemetry().timers()) {
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
