/** The HTTP kit: parameters, JSON answers, problems and content negotiation of the API's paths. */
package org.traceetl.server.http;
