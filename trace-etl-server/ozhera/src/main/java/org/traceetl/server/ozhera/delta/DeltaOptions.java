package org.traceetl.server.ozhera.delta;

import java.time.Duration;
import org.traceetl.server.ozhera.OzheraConfig;

/**
 * Options of {@link DeltaPages}.
 *
 * @param config configuration of the profile
 * @param stride buckets in a row of a window
 * @param consumerGroup consumer group of the servers; prefix of the scrapers' groups
 * @param window length of a window
 * @param maxPendingSeries series stored for scrapers, counted once in each stored sum; above this
 *     limit the scraper that was silent for longest is forgotten, unless it is the only one
 * @param lookBack how far back the journal is read for windows that the previous owner did not
 *     deliver
 */
public record DeltaOptions(
    OzheraConfig config,
    int stride,
    String consumerGroup,
    Duration window,
    long maxPendingSeries,
    Duration lookBack) {}
