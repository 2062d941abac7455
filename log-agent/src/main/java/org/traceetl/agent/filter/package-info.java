/** Decides which spans need not be sent, and takes away from the others what must not be. */
package org.traceetl.agent.filter;
