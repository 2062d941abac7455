package org.traceetl.server.features.index;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.traceetl.common.Clocks;
import org.traceetl.server.window.StoredDocuments;
import org.traceetl.server.window.TraceDocument;

/**
 * Stores documents and searches them. A document is identified by its trace ID and span ID: written
 * twice, it exists once.
 *
 * <p>One thread writes; any number of threads search meanwhile. A document is found once the store
 * has refreshed, at most a few seconds after the write.
 *
 * <p>All implementations store a start before 1970 as 1970, and a lone surrogate as U+FFFD. A name
 * longer than {@link #MAX_FILTERED_LENGTH} is stored in full, but no filter finds it.
 */
public interface TraceIndex extends StoredDocuments, AutoCloseable {
  /** The order of a page. */
  Comparator<TraceDocument> NEWEST_FIRST =
      Comparator.comparingLong(TraceDocument::startUnixNanos)
          .reversed()
          .thenComparing(TraceDocument::traceId)
          .thenComparing(TraceDocument::spanId);

  /** Maximum length of an application or operation that a filter can find, in UTF-16 units. */
  int MAX_FILTERED_LENGTH = 1024;

  /** Opens the configured index. Does not wait for a remote store. */
  static TraceIndex open(IndexConfig config, Clocks clocks) throws IOException {
    return open(config, ElasticsearchLayout.dataStream(config.elasticsearch()), clocks);
  }

  /** Opens the configured index, with this layout if it is Elasticsearch. */
  static TraceIndex open(IndexConfig config, ElasticsearchLayout layout, Clocks clocks)
      throws IOException {
    return switch (config.type()) {
      case NONE -> new DisabledIndex();
      case LUCENE -> LuceneIndex.open(config.lucene(), clocks);
      case ELASTICSEARCH -> ElasticsearchIndex.open(config.elasticsearch(), layout);
    };
  }

  /**
   * Tries once to store the documents, and returns the outcome of each. A document that is neither
   * refused nor to be repeated is stored: it survives the end of this process.
   *
   * @throws IOException if the outcome of all documents is unknown, for example because the store
   *     cannot be reached; all may be repeated
   */
  WriteResult write(List<TraceDocument> documents) throws IOException;

  /**
   * Returns the documents that match the query, newest first.
   *
   * @throws IOException if the store does not answer
   */
  TracePage search(TraceQuery query) throws IOException;

  /**
   * Returns documents that match the query, spread over its time range: at most {@code slices} *
   * limit. If more match, these are the newest {@code limit} of each of the equal slices of the
   * range, filled up with the newest of all. The result has no next page.
   *
   * @param query without a cursor
   * @throws IOException if the store does not answer
   */
  default TracePage search(TraceQuery query, int slices) throws IOException {
    long from = query.fromUnixNanos();
    long to = query.toUnixNanos();
    int most = slices * query.limit();
    TracePage newest = search(query.with(from, to, most));
    if (newest.next() == null) {
      return newest;
    }
    Set<TraceDocument> found = new HashSet<>();
    long step = Math.ceilDiv(to - from, slices);
    for (long end = to; end > from; end -= step) {
      long begin = Math.max(from, end - step);
      found.addAll(search(query.with(begin, end, query.limit())).documents());
    }
    for (TraceDocument document : newest.documents()) {
      if (found.size() < most) {
        found.add(document);
      }
    }
    return new TracePage(found.stream().sorted(NEWEST_FIRST).toList(), null);
  }

  @Override
  default void read(
      String application,
      String operation,
      long fromUnixNanos,
      long toUnixNanos,
      Predicate<TraceDocument> reader)
      throws IOException, InterruptedException {
    Cursor cursor = null;
    do {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      TracePage page =
          search(
              new TraceQuery(
                  application,
                  operation,
                  null,
                  fromUnixNanos,
                  toUnixNanos,
                  TraceQuery.MAX_LIMIT,
                  cursor));
      for (TraceDocument document : page.documents()) {
        if (!reader.test(document)) {
          return;
        }
      }
      cursor = page.next();
    } while (cursor != null);
  }

  /**
   * Returns whether the last call of the store succeeded; true before the first. Does not block.
   */
  boolean healthy();

  /** Releases all resources. Idempotent; no writes or searches may follow. */
  @Override
  void close();
}
