/** Decides which spans are sent whole, and which attributes of the others are sent. */
package org.traceetl.agent.detail;
