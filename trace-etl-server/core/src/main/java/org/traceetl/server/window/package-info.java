/** Windows: the sums of one queue's spans between two offsets, open and sealed. */
package org.traceetl.server.window;
