/**
 * Pages with the counts since a scraper's last answer, as Apache OzHera's dashboards add them up.
 */
package org.traceetl.server.ozhera.delta;
