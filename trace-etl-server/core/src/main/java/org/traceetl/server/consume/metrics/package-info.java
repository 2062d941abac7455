/** Metrics of span processing, and reports on applications with too many series. */
package org.traceetl.server.consume.metrics;
