/** The parts of pages for Prometheus: names, families, text, compression, leases, encodings. */
package org.traceetl.server.expose;
