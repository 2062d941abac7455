package org.traceetl.server.ozhera.delta;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scraper that receives each window once: its pending request, its open answer and the addresses
 * it scrapes from. Confined to the fold thread, except the identity and the group, which are final.
 */
final class ScraperSession {
  private static final Logger log = LoggerFactory.getLogger(ScraperSession.class);

  /** Addresses that are remembered. */
  private static final int RECENT_ADDRESSES = 4;

  /** How long an identity counts as shared after its addresses last alternated. */
  private static final long SHARED_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final String identity;
  private final String group;

  /** The latest address first. */
  private final ArrayDeque<String> recentAddresses = new ArrayDeque<>(RECENT_ADDRESSES);

  private long sharedNanos;
  private boolean shared;

  /** Time of the latest request, on the nano clock. */
  long askedNanos;

  /** Answers that request threads still write, expired ones included. */
  int openAnswers;

  /** The answer that is not settled; null for none. */
  Answer answer;

  /** The request that waits for positions or for the end of the previous answer; null for none. */
  DeltaMessage.Take waiting;

  /** Messages of the span topic whose counts this scraper missed for good. */
  long missedMessages;

  /**
   * @param group consumer group under which the brokers store the scraper's positions
   */
  ScraperSession(String identity, String group, long nowNanos) {
    this.identity = identity;
    this.group = group;
    askedNanos = nowNanos;
  }

  /**
   * Records a request. Two scrapers with one identity take windows from each other; their addresses
   * alternate.
   */
  void asked(String address, long nowNanos) {
    askedNanos = nowNanos;
    if (returnsTo(address)) {
      if (!shared) {
        log.warn(
            "Scraper {} asks from several places in turn, {} among them. If these are several"
                + " scrapers, each receives only a part of the counts: give each a name of its own,"
                + " in Prometheus params: {scraper: [NAME]}",
            identity,
            address);
      }
      shared = true;
      sharedNanos = nowNanos;
    } else if (nowNanos - sharedNanos >= SHARED_NANOS) {
      shared = false;
    }
  }

  /** Returns whether the scraper was at this address before it was at another one. */
  private boolean returnsTo(String address) {
    boolean same = address.equals(recentAddresses.peekFirst());
    boolean known = recentAddresses.remove(address);
    if (recentAddresses.size() == RECENT_ADDRESSES) {
      recentAddresses.removeLast();
    }
    recentAddresses.addFirst(address);
    return known && !same;
  }

  /** Returns whether several scrapers seem to share the identity. */
  boolean shared() {
    return shared;
  }

  void refuseBusy(DeltaMessage.Take take) {
    take.answer()
        .completeExceptionally(
            ScraperRefused.busy(
                "scraper "
                    + identity
                    + " is being answered already: give every scraper a name of its own by"
                    + " parameter scraper (in Prometheus params: {scraper: [NAME]})"));
  }

  String identity() {
    return identity;
  }

  String group() {
    return group;
  }
}
