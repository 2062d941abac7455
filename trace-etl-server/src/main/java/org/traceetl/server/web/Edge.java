package org.traceetl.server.web;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** What Spring Boot sets up by itself: the web server and its health pages. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Edge {}
