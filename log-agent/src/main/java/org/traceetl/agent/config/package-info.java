/** What an operator can set: immutable records, read and checked once at the start. */
package org.traceetl.agent.config;
