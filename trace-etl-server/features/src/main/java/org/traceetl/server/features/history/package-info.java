/** Live history: calls, errors and durations of each application of the fleet, by the minute. */
package org.traceetl.server.features.history;
