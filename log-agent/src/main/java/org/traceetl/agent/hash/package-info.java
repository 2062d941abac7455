/** Implements XXH64, for routing and for detecting repeated requests. */
package org.traceetl.agent.hash;
