/** Provides what the agent and the server share in addition to the wire format. */
package org.traceetl.common;
