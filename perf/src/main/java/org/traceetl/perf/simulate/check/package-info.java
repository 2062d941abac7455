/** The checks of a simulated run: what must hold at each scrape, and at each quiet point. */
package org.traceetl.perf.simulate.check;
