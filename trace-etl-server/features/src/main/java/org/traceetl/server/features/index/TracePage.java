package org.traceetl.server.features.index;

import java.util.List;
import org.traceetl.server.window.TraceDocument;

/**
 * One page of what a search found, newest start first; equal starts by trace ID, then span ID.
 *
 * <p>Following {@link #next} gives every document that was there at the first page exactly once,
 * whatever is written meanwhile.
 *
 * @param documents at most the query's limit; may be fewer although more pages follow
 * @param next asks for the page after this one; null if this is the last
 */
public record TracePage(List<TraceDocument> documents, Cursor next) {}
