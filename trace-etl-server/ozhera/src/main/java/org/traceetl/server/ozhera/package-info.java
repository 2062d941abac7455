/** What spans mean to Apache OzHera: which of its metrics a span counts in, and by which rules. */
package org.traceetl.server.ozhera;
