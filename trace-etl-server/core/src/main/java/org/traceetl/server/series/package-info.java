/** The identity of series: strings as numbers, the series of a queue, and their limits. */
package org.traceetl.server.series;
