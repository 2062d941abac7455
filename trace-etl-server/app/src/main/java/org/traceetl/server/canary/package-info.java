/**
 * The canary: sends known spans through agents, and compares them with the pages of the servers,
 * the trace index and Prometheus.
 */
package org.traceetl.server.canary;
