/** The live history: calls, errors and durations of each application of the fleet by minute. */
package org.traceetl.server.features.history;
