package org.traceetl.server.web;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The Spring Boot application: the web server, its health paths, security and the API. */
@SpringBootConfiguration(proxyBeanMethods = false)
// It would create a user and log the password.
@EnableAutoConfiguration(exclude = UserDetailsServiceAutoConfiguration.class)
@Import({WebSecurity.class, ApiConfiguration.class, ApiProblems.class, OtherProblems.class})
class WebApplication {}
