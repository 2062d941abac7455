package org.traceetl.server.compare;

import java.net.URI;
import java.util.Map;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Secret;

/**
 * Where the series of one side are.
 *
 * @param side name in messages, {@code left} or {@code right}
 * @param url base address of a Prometheus, such as {@code http://prometheus:9090}
 * @param metric name of a counter
 * @param selector matchers of labels, without braces; empty for all series
 * @param headers headers of each request, such as {@code Authorization}
 */
public record Source(
    String side, URI url, String metric, String selector, Map<String, Secret> headers) {

  /**
   * @throws ConfigException if the address is not that of a Prometheus
   */
  public Source {
    ConfigException.check(
        ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
            && url.getHost() != null
            && url.getUserInfo() == null
            && url.getQuery() == null
            && url.getFragment() == null,
        "--" + side,
        // It may have a password.
        null,
        "must be http://HOST:PORT or https://HOST:PORT, optionally with a path, without user, query"
            + " and fragment");
    headers = Map.copyOf(headers);
  }

  /** Returns the selector of the series in PromQL. */
  String query() {
    String name = metric.replace("\\", "\\\\").replace("\"", "\\\"");
    return "{__name__=\"" + name + "\"" + (selector.isEmpty() ? "" : "," + selector) + "}";
  }

  /** Returns whether both read the same series. */
  boolean isSameAs(Source other) {
    return url.equals(other.url)
        && metric.equals(other.metric)
        && selector.equals(other.selector)
        && headers.equals(other.headers);
  }
}
