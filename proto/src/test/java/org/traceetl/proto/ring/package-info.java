/** Writes rings, straightforwardly, and tells their content as text: for tests of any module. */
package org.traceetl.proto.ring;
