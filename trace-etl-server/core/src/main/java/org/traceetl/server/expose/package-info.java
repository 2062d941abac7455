/** What pages for Prometheus are made of: names, families, text, compression, leases, encodings. */
package org.traceetl.server.expose;
