/** The whole pipeline in one JVM with its own broker, for trials and end-to-end tests. */
package org.traceetl.standalone;
