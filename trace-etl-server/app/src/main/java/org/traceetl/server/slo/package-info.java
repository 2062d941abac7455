/** Writes the rules for Prometheus that follow from objectives. */
package org.traceetl.server.slo;
