/** Servers of a simulated world, the index that they share, and the scraper that reads them. */
package org.traceetl.perf.simulate.server;
