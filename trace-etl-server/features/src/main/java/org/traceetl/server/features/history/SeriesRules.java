package org.traceetl.server.features.history;

import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.traceetl.server.window.SeriesDefinition;

/**
 * How the history reads series.
 *
 * @param schema schema of series with this server's buckets
 * @param buckets their number of buckets
 * @param countsEvents whether events have series; these are not calls
 * @param bucketsOfHistory whether a series of that schema has the history's buckets; others add
 *     only calls, errors and durations
 * @param kinds returns the name of a kind
 */
public record SeriesRules(
    long schema,
    int buckets,
    boolean countsEvents,
    Predicate<SeriesDefinition> bucketsOfHistory,
    IntFunction<String> kinds) {}
