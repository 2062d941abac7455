package org.traceetl.server.features.deploys;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

/**
 * The comparison of versions: {@code trace-etl.deploys}. A missing value is its default.
 *
 * @param enabled whether this server compares versions; requires {@code history.enabled}
 * @param attribute attribute whose values are the versions of an application. It must be a
 *     dimension of series, in {@code series.dimensions} or in rules
 * @param maxOperations operations of versions of all applications; further ones are not compared; 1
 *     to 1000000. A busy one takes 5 to 10 KB with default buckets
 */
public record DeploysConfig(Boolean enabled, String attribute, Integer maxOperations) {
  private static final int MOST = 1_000_000;

  public DeploysConfig {
    enabled = orElse(enabled, true);
    attribute = orElse(attribute, "service.version");
    maxOperations = orElse(maxOperations, 10_000);
    check(!attribute.isEmpty(), "trace-etl.deploys.attribute", attribute, "must name an attribute");
    checkRange("trace-etl.deploys.max-operations", maxOperations, 1, MOST);
  }

  public static DeploysConfig defaults() {
    return new DeploysConfig(null, null, null);
  }
}
