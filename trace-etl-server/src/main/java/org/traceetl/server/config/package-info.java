/** The server's configuration: immutable records, validated once. */
package org.traceetl.server.config;
