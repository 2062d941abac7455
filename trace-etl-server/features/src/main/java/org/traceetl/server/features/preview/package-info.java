/** How many series a configuration would make of the messages that the broker still has. */
package org.traceetl.server.features.preview;
