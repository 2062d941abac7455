/** The configuration: its keys bound to the records of all parts, checked as a whole, and shown. */
package org.traceetl.server.binding;
