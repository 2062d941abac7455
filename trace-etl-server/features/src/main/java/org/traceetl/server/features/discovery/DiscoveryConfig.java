package org.traceetl.server.features.discovery;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import com.google.common.net.HostAndPort;
import java.time.Duration;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * What the servers of a fleet know of one another: {@code trace-etl.discovery}. A missing value is
 * its default.
 *
 * @param address where scrapers reach this server, as {@code host:port} or {@code host}, which has
 *     the port that is open; null, the default: the address with which it reaches the name server
 * @param forgetAfter a server that no broker knows any more is listed for so long; default 45 s,
 *     which is above the 30 s within which all come back to a broker that was started anew
 */
public record DiscoveryConfig(String address, Duration forgetAfter) {
  private static final String PREFIX = "trace-etl.discovery.";
  private static final Duration MAX_FORGET_AFTER = Duration.ofHours(1);

  public DiscoveryConfig {
    forgetAfter = orElse(forgetAfter, Duration.ofSeconds(45));
    check(
        address == null || isAddress(address),
        PREFIX + "address",
        address,
        "must be host:port, or host, as scrapers reach this server; IPv6 as [::1]:8080");
    check(
        !forgetAfter.isNegative() && forgetAfter.compareTo(MAX_FORGET_AFTER) <= 0,
        PREFIX + "forget-after",
        forgetAfter,
        "must be 0s to 1h");
  }

  public static DiscoveryConfig defaults() {
    return new DiscoveryConfig(null, null);
  }

  private static boolean isAddress(String text) {
    try {
      HostAndPort parts = HostAndPort.fromString(text);
      return Endpoint.isHost(parts.getHost()) && parts.getPortOrDefault(1) != 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
