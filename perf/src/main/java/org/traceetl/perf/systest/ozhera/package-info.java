/**
 * Traffic as Apache OzHera's agents send it, what its metric service would count of it, and a run
 * that holds an installation to that.
 */
package org.traceetl.perf.systest.ozhera;
