/** The agent as a program: its command line and the wiring of its parts. */
package org.traceetl.agent;
