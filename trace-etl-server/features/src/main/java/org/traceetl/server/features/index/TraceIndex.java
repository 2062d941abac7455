package org.traceetl.server.features.index;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.window.TraceDocument;

/**
 * Where documents are kept and found again. A document is named by its trace ID and span ID:
 * written twice, it is there once.
 *
 * <p>One thread writes; any number of threads search meanwhile. A document is found as soon as the
 * store has refreshed, at most a few seconds after it was written.
 *
 * <p>What every implementation does to a document: a start before 1970 is kept as 1970, and a lone
 * surrogate as U+FFFD. A name longer than {@link #MAX_FILTERED_LENGTH} is kept whole, but no filter
 * finds it.
 */
public interface TraceIndex extends AutoCloseable {
  /** The order of a page. */
  Comparator<TraceDocument> NEWEST_FIRST =
      Comparator.comparingLong(TraceDocument::startUnixNanos)
          .reversed()
          .thenComparing(TraceDocument::traceId)
          .thenComparing(TraceDocument::spanId);

  /** Longest application or operation that a query's filter can find, UTF-16 units. */
  int MAX_FILTERED_LENGTH = 1024;

  /** The index that the configuration names. Does not wait for a remote store to be there. */
  static TraceIndex open(IndexConfig config) throws IOException {
    return open(config, ElasticsearchLayout.dataStream(config.elasticsearch()));
  }

  /** The same, with this layout if it is Elasticsearch. */
  static TraceIndex open(IndexConfig config, ElasticsearchLayout layout) throws IOException {
    return switch (config.type()) {
      case NONE -> new DisabledIndex();
      case LUCENE -> LuceneIndex.open(config.lucene());
      case ELASTICSEARCH -> ElasticsearchIndex.open(config.elasticsearch(), layout);
    };
  }

  /**
   * Tries once to keep the documents, and says what became of each. What is neither refused nor to
   * be tried again is kept: it survives the end of this process.
   *
   * @throws IOException if nothing is known of any of them, for instance because the store cannot
   *     be reached; all of them may be tried again
   */
  WriteResult write(List<TraceDocument> documents) throws IOException;

  /**
   * The documents that the query asks for, newest first.
   *
   * @throws IOException if the store does not answer
   */
  TracePage search(TraceQuery query) throws IOException;

  /**
   * What the query asks for, spread over its time: at most {@code slices} * limit documents. If
   * there are more, these are the newest of each of so many equal parts of the time, limit
   * documents of each, and the newest of all where that leaves room. No page follows.
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

  /** Whether the last contact with the store went well; true before the first. Never waits. */
  boolean healthy();

  /** Releases what the index holds. Idempotent; nothing is written or searched afterwards. */
  @Override
  void close();
}
