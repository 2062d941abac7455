/** The server's configuration: immutable records, complete and valid once they exist. */
package org.traceetl.server.config;
