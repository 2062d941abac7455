/** The reader of rings: the layout of their files and the meaning of the bytes. */
package org.traceetl.proto.ring;
