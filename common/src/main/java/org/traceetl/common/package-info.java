/** What the agent and the server share besides the wire format. */
package org.traceetl.common;
