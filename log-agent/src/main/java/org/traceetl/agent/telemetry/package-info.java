/** The agent's own metrics, health and throttled log lines. */
package org.traceetl.agent.telemetry;
