/**
 * The agent's configuration: immutable records, read and checked at the start. Files of rules are
 * reloaded.
 */
package org.traceetl.agent.config;
