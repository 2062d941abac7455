/** The live servers, for scrapers, as the brokers know the members of the group. */
package org.traceetl.server.features.discovery;
