/** How the thread of a source begins and ends. */
package org.traceetl.agent.source.thread;
