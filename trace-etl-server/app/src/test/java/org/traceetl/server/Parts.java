package org.traceetl.server;

/** The parts of the server, as patterns of packages. */
final class Parts {
  private static final String SERVER = "org.traceetl.server.";

  static final String[] CORE = {
    SERVER + "assembly..",
    SERVER + "component..",
    SERVER + "config..",
    SERVER + "consume..",
    SERVER + "decisions..",
    SERVER + "decode..",
    SERVER + "dedup..",
    SERVER + "edge..",
    SERVER + "expose..",
    SERVER + "journal..",
    SERVER + "log..",
    SERVER + "minutes..",
    SERVER + "profile..",
    SERVER + "protobuf..",
    SERVER + "queues..",
    SERVER + "rocketmq..",
    SERVER + "rules..",
    SERVER + "series..",
    SERVER + "telemetry..",
    SERVER + "window..",
  };

  /** The main program, the binding and the web server put all parts together. */
  static final String MAIN = "org.traceetl.server";

  static final String[] OZHERA = {SERVER + "ozhera.."};

  static final String[] NOT_SIMULATED = {SERVER + "ozhera..", SERVER + "web.."};

  static final String[] BEYOND_FEATURES = {
    MAIN,
    SERVER + "binding..",
    SERVER + "canary..",
    SERVER + "compare..",
    SERVER + "migration..",
    SERVER + "slo..",
    SERVER + "web..",
    SERVER + "ozhera..",
  };

  static final String[] BEYOND_CORE = {
    MAIN,
    SERVER + "binding..",
    SERVER + "canary..",
    SERVER + "compare..",
    SERVER + "migration..",
    SERVER + "slo..",
    SERVER + "web..",
    SERVER + "features..",
    SERVER + "http..",
    "com.fasterxml.jackson..",
    "jakarta..",
    "java.net.http..",
    "org.apache.catalina..",
    "org.springframework..",
    "tools.jackson..",
  };

  private Parts() {}
}
