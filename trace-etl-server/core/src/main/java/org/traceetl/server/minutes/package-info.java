/** The last hour by minute: packed numbers, the time that was observed, and quantiles. */
package org.traceetl.server.minutes;
