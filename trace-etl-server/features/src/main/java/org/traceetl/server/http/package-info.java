/** What a feature shows on the port: resources of the API, servlets, problems and pages. */
package org.traceetl.server.http;
