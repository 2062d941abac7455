/** XXH64, for routing and for telling repeated requests. */
package org.traceetl.agent.hash;
