/** Publishes the rules of a file, and applies those that the servers have agreed on. */
package org.traceetl.server.features.rules;
