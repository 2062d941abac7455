/** Provides the agent's own metrics and health. */
package org.traceetl.agent.telemetry;
