/** Decoding of the span topic's messages into columns of numbers, with complete validation. */
package org.traceetl.server.decode;
