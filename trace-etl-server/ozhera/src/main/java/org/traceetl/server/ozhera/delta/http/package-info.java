/** The feature that gives delta pages to scrapers: its paths and metrics. */
package org.traceetl.server.ozhera.delta.http;
