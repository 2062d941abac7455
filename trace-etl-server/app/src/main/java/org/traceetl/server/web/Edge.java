package org.traceetl.server.web;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.context.annotation.Import;

/** What Spring Boot sets up by itself: the web server and its health pages. */
@SpringBootConfiguration(proxyBeanMethods = false)
// Would make up a user, and log the password.
@EnableAutoConfiguration(exclude = UserDetailsServiceAutoConfiguration.class)
@Import({WebSecurity.class, ApiConfiguration.class, ApiProblems.class})
class Edge {}
