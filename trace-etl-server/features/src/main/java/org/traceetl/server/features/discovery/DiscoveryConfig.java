package org.traceetl.server.features.discovery;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import com.google.common.net.HostAndPort;
import java.time.Duration;
import org.traceetl.server.assembly.AnnouncedAddress;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * Discovery of the servers of a fleet: {@code trace-etl.discovery}. A missing value is its default.
 *
 * @param address {@code host:port} or {@code host} where scrapers reach this server, as {@code
 *     /api/targets} lists it. Default: its own address towards the name server, or {@code
 *     server.address}, with the open port. Set it behind address translation
 * @param forgetAfter how long a server stays listed after it left the consumer group; 0 s to 1 h.
 *     More than the 30 s in which all return to a restarted broker
 */
public record DiscoveryConfig(String address, Duration forgetAfter) implements AnnouncedAddress {
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
