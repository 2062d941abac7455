/** Learns which tokens of span names vary, and publishes the rules to all agents and servers. */
package org.traceetl.server.features.learn;
