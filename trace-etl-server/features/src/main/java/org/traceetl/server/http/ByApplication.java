package org.traceetl.server.http;

/**
 * A servlet that answers with the applications of {@link Access#of} only. All other servlets are
 * closed to senders who may not see all applications.
 */
public interface ByApplication {}
