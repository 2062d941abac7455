/** A queue's messages in order, and their spans counted once in windows of series. */
package org.traceetl.server.consume.queue;
