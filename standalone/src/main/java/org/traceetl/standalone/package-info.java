/** The whole pipeline in one JVM with a broker of its own, to try it and to test it as a whole. */
package org.traceetl.standalone;
