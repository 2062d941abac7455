/** The HTTP port, and what Spring Boot is used for: configuration, health, start and end. */
package org.traceetl.server.web;
