/** The server's configuration: immutable records that are complete and valid once they exist. */
package org.traceetl.server.config;
