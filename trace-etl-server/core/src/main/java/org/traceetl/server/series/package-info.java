/** What distinguishes spans: strings as numbers, the series made of them, and their limits. */
package org.traceetl.server.series;
