/** What keeps a fault that repeats from filling the log. */
package org.traceetl.server.log;
