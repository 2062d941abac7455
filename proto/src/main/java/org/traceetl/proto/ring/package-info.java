/** The reader's side of a ring: where things stand in its file, and what its bytes mean. */
package org.traceetl.proto.ring;
