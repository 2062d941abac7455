/** Protection of the log: safe texts from clients. */
package org.traceetl.server.log;
