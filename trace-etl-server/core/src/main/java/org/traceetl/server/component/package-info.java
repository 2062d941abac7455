/** What every part of the server has in common: metrics, start, health, readiness, drain, close. */
package org.traceetl.server.component;
