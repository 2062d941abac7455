/** The HTTP port: Spring Boot, security, health, the API and the lifecycle of the server. */
package org.traceetl.server.web;
