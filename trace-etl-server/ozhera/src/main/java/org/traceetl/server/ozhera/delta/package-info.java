/**
 * Pages with the counts since a scraper's last answer, as Apache OzHera's dashboards add them up:
 * sessions of scrapers, and the thread that folds windows into what each has not received.
 */
package org.traceetl.server.ozhera.delta;
