/**
 * Generates traffic as Apache OzHera's agents do, computes what its metric service would count, and
 * compares an installation with that.
 */
package org.traceetl.perf.systest.ozhera;
