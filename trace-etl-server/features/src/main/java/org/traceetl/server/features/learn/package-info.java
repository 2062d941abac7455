/**
 * Names learnt by their variety: which tokens of span names vary, told to all agents and servers.
 */
package org.traceetl.server.features.learn;
