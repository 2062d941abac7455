/** Holds what may differ by application in how spans count, and which of it applies to which. */
package org.traceetl.server.rules;
