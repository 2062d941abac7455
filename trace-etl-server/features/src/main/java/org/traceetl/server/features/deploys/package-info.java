/** Deploys of the last hour: a test of each new version against the one before, by exact counts. */
package org.traceetl.server.features.deploys;
