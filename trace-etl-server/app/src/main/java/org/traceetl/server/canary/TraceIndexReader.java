package org.traceetl.server.canary;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Reads the trace index through a server, as the web UI does. */
final class TraceIndexReader {
  private static final int LIMIT = 1_000;

  private final HttpReader http;
  private final String application;

  TraceIndexReader(HttpReader http, String application) {
    this.http = http;
    this.application = application;
  }

  /** Returns the number of documents of a probe that the index does not return. */
  int missing(URI server, Probe probe) throws IOException, InterruptedException {
    JsonNode answer =
        http.json(
            server.resolve(
                "/api/traces?application="
                    + URLEncoder.encode(application, UTF_8)
                    + "&from="
                    + probe.fromMillis()
                    + "&to="
                    + (probe.toMillis() + 1)
                    + "&limit="
                    + LIMIT));
    Set<String> missing = new HashSet<>(probe.documents());
    for (JsonNode trace : answer.path("traces")) {
      missing.remove(trace.path("traceId").asString(""));
    }
    return missing.size();
  }
}
