/** Logs of the journal at the brokers, and the authentication of their messages. */
package org.traceetl.server.journal.log;
