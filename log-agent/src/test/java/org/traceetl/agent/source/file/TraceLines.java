package org.traceetl.agent.source.file;

/** Creates lines as OzHera's exporter writes them. */
final class TraceLines {
  static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

  private TraceLines() {}

  static String span(String application, String name, int number) {
    return line(
        application,
        name,
        "UNSET",
        number,
        "["
            + tag("http.method", "string", "GET")
            + ","
            + tag("span.kind", "string", "server")
            + "]",
        resource(application),
        "[]");
  }

  static String tag(String key, String type, String value) {
    return "{\"key\":\"" + key + "\",\"type\":\"" + type + "\",\"value\":\"" + value + "\"}";
  }

  static String resource(String application) {
    return "{\"serviceName\":\""
        + application
        + "\",\"tags\":["
        + tag("ip", "string", "10.0.0.7")
        + ","
        + tag("service.name", "string", application)
        + "]}";
  }

  static String line(
      String application,
      String name,
      String status,
      int number,
      String tags,
      String resource,
      String references) {
    return "2026-11-21 10:00:00.000 ||| "
        + String.join(
            " ### ",
            "1795255028312000000",
            "1500000",
            "10.0.0.7",
            application,
            name,
            status,
            TRACE_ID,
            String.format("%016x", number + 1),
            tags,
            "[]",
            resource,
            references,
            "\n");
  }
}
