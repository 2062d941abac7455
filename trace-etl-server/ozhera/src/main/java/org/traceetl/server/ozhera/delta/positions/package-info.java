/** The scrapers' positions at the brokers, and retries of brokers that do not answer. */
package org.traceetl.server.ozhera.delta.positions;
