/** Provides what all ports of the agent share: sockets, TLS, tokens and HTTP responses. */
package org.traceetl.agent.http;
