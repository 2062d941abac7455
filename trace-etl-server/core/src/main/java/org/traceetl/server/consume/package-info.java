/** The queues of the span topic: who reads which, from where to where, and every batch once. */
package org.traceetl.server.consume;
