/** What all parts of the server share: metrics, start, health, readiness, drain, close. */
package org.traceetl.server.component;
