/** Messages of the span topic as columns of numbers, checked whole before anything counts. */
package org.traceetl.server.decode;
