/**
 * Pages of what was added since a scraper's last answer, as Apache OzHera's dashboards sum it up.
 */
package org.traceetl.server.ozhera.delta;
