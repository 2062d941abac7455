/** What core gives to the features of a server. */
package org.traceetl.server.assembly;
