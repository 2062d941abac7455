package org.traceetl.server.web;

import java.util.List;
import org.traceetl.server.http.ByApplication;

/** The paths of the servlets that are {@link ByApplication}. */
record ServletsByApplication(List<String> paths) {}
