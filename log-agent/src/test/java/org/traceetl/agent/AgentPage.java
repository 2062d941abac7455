package org.traceetl.agent;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Reads the telemetry port of a running agent. */
public final class AgentPage {
  private AgentPage() {}

  static HttpResponse<String> get(RunningAgent agent, String path)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + agent.telemetryPort().orElseThrow() + path);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  /**
   * Returns the value of a metric, or the sum of several.
   *
   * @param name without its prefix; with labels, whose values may be regular expressions
   */
  public static double value(RunningAgent agent, String name)
      throws IOException, InterruptedException {
    String line = "trace_etl_agent_" + name.replace("{", "\\{").replace("}", "\\}") + " .*";
    return get(agent, "/metrics")
        .body()
        .lines()
        .filter(found -> found.matches(line))
        .mapToDouble(found -> Double.parseDouble(found.substring(found.lastIndexOf(' '))))
        .sum();
  }
}
