/** The meaning of spans in Apache OzHera: the metrics that count a span, and the rules for it. */
package org.traceetl.server.ozhera;
