package org.traceetl.server.features.deploys;

import java.util.List;

/**
 * A version that began to have calls.
 *
 * @param previous version with most calls before
 * @param fromMillis begin of its first slot, milliseconds since 1970
 * @param untilMillis end of the last slot that is compared
 * @param baselineMinutes how long the old version had calls that are compared
 * @param differences those known; empty if one of the versions has too few calls
 */
record Deploy(
    String application,
    String version,
    String previous,
    long fromMillis,
    long untilMillis,
    double baselineMinutes,
    List<Difference> differences) {
  Deploy {
    differences = List.copyOf(differences);
  }
}
