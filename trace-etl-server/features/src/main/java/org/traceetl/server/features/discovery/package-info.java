/** Which servers live, for who scrapes them: as the brokers know the members of the group. */
package org.traceetl.server.features.discovery;
