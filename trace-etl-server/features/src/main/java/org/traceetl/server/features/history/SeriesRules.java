package org.traceetl.server.features.history;

import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.traceetl.server.window.SeriesDefinition;

/**
 * How the history reads series.
 *
 * @param schema of series with this server's buckets
 * @param stride their number
 * @param countsEvents whether there are series of events, which are no calls
 * @param bucketsOfHistory whether a series of that schema has the buckets of the history; of others
 *     only calls, errors and durations count
 * @param kinds what the number of a kind is called
 */
public record SeriesRules(
    long schema,
    int stride,
    boolean countsEvents,
    Predicate<SeriesDefinition> bucketsOfHistory,
    IntFunction<String> kinds) {}
