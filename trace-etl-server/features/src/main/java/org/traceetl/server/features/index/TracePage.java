package org.traceetl.server.features.index;

import java.util.List;
import org.traceetl.server.window.TraceDocument;

/**
 * One page of a search, newest start first; equal starts by trace ID, then span ID.
 *
 * <p>Following {@link #next} returns every document that existed at the first page exactly once,
 * regardless of concurrent writes.
 *
 * @param documents at most the query's limit; may be fewer although more pages follow
 * @param next query for the next page; null for the last page
 */
public record TracePage(List<TraceDocument> documents, Cursor next) {}
