package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.traceetl.server.config.ServerConfig;
import org.traceetl.server.discovery.Endpoint;
import org.traceetl.server.telemetry.Timer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/status}: whether this server is well, and what a page needs to know of it; {@code
 * GET /api/configuration}: the keys that it runs by. Never waits.
 */
final class StatusServlet extends HttpServlet {
  static final String STATUS = "/api/status";
  static final String CONFIGURATION = "/api/configuration";

  private static final long serialVersionUID = 1L;
  private static final JsonMapper JSON = new JsonMapper();
  private static final double NANOS_PER_MILLI = 1e6;

  private final transient Service service;
  private final transient ServerConfig config;
  private final transient List<KeysInForce.Key> keys;

  StatusServlet(Service service, ServerConfig config, List<KeysInForce.Key> keys) {
    this.service = service;
    this.config = config;
    this.keys = keys;
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
    response.setContentType("application/json");
    response
        .getOutputStream()
        .write(
            JSON.writeValueAsBytes(
                request.getServletPath().equals(STATUS)
                    ? status(request.getUserPrincipal())
                    : configuration()));
  }

  private ObjectNode status(Principal user) {
    ObjectNode root = JSON.createObjectNode();
    root.put("version", service.telemetry().version())
        .put("server", service.fleet().here().map(Endpoint::target).orElse(null))
        .put("started", text(ManagementFactory.getRuntimeMXBean().getStartTime()))
        .put("now", text(System.currentTimeMillis()))
        .put("alive", service.alive());
    TreeMap<String, String> missing = new TreeMap<>(service.missing());
    root.put("ready", missing.isEmpty());
    ObjectNode reasons = root.putObject("missing");
    missing.forEach(reasons::put);
    root.put("upToDate", service.history() == null ? null : (Boolean) service.history().upToDate())
        .put("windowMillis", config.window().length().toMillis())
        .put("slowMillis", config.documents().slowerThan().toNanos() / NANOS_PER_MILLI)
        .put("profile", lower(config.metrics().profile()))
        .put("unit", lower(config.metrics().unit()));
    root.putObject("index")
        .put("type", lower(config.index().type()))
        .put("healthy", service.index().healthy());
    Optional<List<Endpoint>> servers = service.fleet().servers();
    if (servers.isPresent()) {
      ArrayNode targets = root.putArray("servers");
      servers.get().forEach(server -> targets.add(server.target()));
    } else {
      root.putNull("servers");
    }
    root.put("traceUrl", config.web().traceUrl())
        .put("signIn", lower(config.web().signIn()))
        .put("user", user == null ? null : user.getName());
    ArrayNode timings = root.putArray("timings");
    for (Timer timer : service.telemetry().timers()) {
      Timer.Total total = timer.total();
      timings
          .addObject()
          .put("name", timer.name())
          .put("count", total.count())
          .put("meanMillis", total.count() == 0 ? null : (Double) total.meanMillis())
          .put("maxMillis", total.count() == 0 ? null : (Double) total.maxMillis());
    }
    return root;
  }

  private ObjectNode configuration() {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode all = root.putArray("keys");
    for (KeysInForce.Key key : keys) {
      all.addObject()
          .put("key", key.key())
          .put("value", key.value())
          .put("given", key.from() != null)
          .put("from", key.from());
    }
    return root;
  }

  private static String text(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
