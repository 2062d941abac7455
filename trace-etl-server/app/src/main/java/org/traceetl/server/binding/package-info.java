/**
 * Binds the configuration keys to the records of all parts, checks them as a whole, and shows them.
 */
package org.traceetl.server.binding;
