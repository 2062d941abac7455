/** The HTTP port, and what Spring Boot is used for: who is let in, health, start and end. */
package org.traceetl.server.web;
