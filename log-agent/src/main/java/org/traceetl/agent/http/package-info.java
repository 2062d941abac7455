/** What all ports of the agent share: sockets, TLS, tokens and the form of HTTP answers. */
package org.traceetl.agent.http;
