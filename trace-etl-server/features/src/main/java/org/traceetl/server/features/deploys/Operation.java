package org.traceetl.server.features.deploys;

/**
 * Calls that are compared with each other only, so that another mix of them is no difference.
 *
 * @param form buckets of their series, as in series; null for those of the configuration
 */
record Operation(String name, String kind, String form) {}
