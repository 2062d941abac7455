/**
 * Estimates the series that a configuration or rules would create from the messages on the broker.
 */
package org.traceetl.server.features.preview;
