/** The journal: sealed windows in order, and those who follow them. */
package org.traceetl.server.journal;
