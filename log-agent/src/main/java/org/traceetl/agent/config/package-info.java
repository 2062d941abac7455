/**
 * What an operator can set: immutable records, read and checked at the start; files of rules again
 * when they change.
 */
package org.traceetl.agent.config;
