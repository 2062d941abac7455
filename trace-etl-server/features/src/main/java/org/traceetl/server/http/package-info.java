/**
 * What a feature shows on the port, and to whom: resources of the API, servlets, problems, pages.
 */
package org.traceetl.server.http;
