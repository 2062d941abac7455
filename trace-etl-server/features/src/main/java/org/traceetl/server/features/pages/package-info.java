/** Sealed windows folded into cumulative series, and those written as pages for Prometheus. */
package org.traceetl.server.features.pages;
