package org.traceetl.server.features.index;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KeywordField;
import org.apache.lucene.document.LongField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortedNumericSelector;
import org.apache.lucene.search.SortedSetSelector;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermRangeQuery;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.util.BytesRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.window.TraceDocument;

/**
 * Documents in a Lucene index of this process. A write is committed before it returns, and later
 * searches find it.
 *
 * <p>The writing thread owns the {@link IndexWriter}; searches use a {@link SearcherManager}. If
 * the writer was closed after an error, such as a full disk, the next write opens it again.
 */
final class LuceneIndex implements TraceIndex {
  private static final Logger LOG = LoggerFactory.getLogger(LuceneIndex.class);

  private static final String ID = "id";

  /** Time of storage on this index's clock, because a span's start is only a client's claim. */
  private static final String KEPT = "kept_unix_millis";

  private static final String TRACE_ID = "trace_id";
  private static final String SPAN_ID = "span_id";
  private static final String APPLICATION = "application";
  private static final String OPERATION = "operation";

  /** Suffix of the field of a name that is not indexed. */
  private static final String LONG = "_long";

  private static final String KIND = "kind";
  private static final String STATUS = "status";
  private static final String STATUS_MESSAGE = "status_message";
  private static final String START = "start_unix_nanos";
  private static final String DURATION = "duration_nanos";
  private static final String REASON = "reason";
  private static final String ATTRIBUTE_KEY = "attribute_key";
  private static final String ATTRIBUTE_VALUE = "attribute_value";

  private static final Sort NEWEST_FIRST = sort(START, true);
  private static final Sort FIRST_KEPT_FIRST = sort(KEPT, false);

  /** Heap that Lucene may fill before it writes a segment, in MB. */
  private static final double BUFFER_MEGABYTES = 32;

  private final IndexConfig.Lucene config;
  private final LongSupplier nanoClock;
  private final long startMillis;
  private final long startNanos;
  private static final String DIRECTORY_KEY = "trace-etl.index.lucene.directory";

  private final Directory directory;
  private volatile SearcherManager searchers;
  private IndexWriter writer;
  private volatile boolean healthy = true;

  private LuceneIndex(IndexConfig.Lucene config, Clocks clocks, Directory directory) {
    this.config = config;
    nanoClock = clocks.nanoClock();
    startMillis = clocks.millis();
    startNanos = nanoClock.getAsLong();
    this.directory = directory;
  }

  /**
   * Opens or creates the index.
   *
   * @throws ConfigException if the directory cannot be used, or another process uses it
   */
  static LuceneIndex open(IndexConfig.Lucene config, Clocks clocks) throws IOException {
    Directory directory;
    try {
      directory = FSDirectory.open(config.directory());
    } catch (IOException e) {
      throw unusable(config, e);
    }
    return open(config, clocks, directory);
  }

  static LuceneIndex open(IndexConfig.Lucene config, Clocks clocks, Directory directory)
      throws IOException {
    LuceneIndex index = new LuceneIndex(config, clocks, directory);
    try {
      index.openWriter();
      return index;
    } catch (LockObtainFailedException e) {
      directory.close();
      throw new ConfigException(
          DIRECTORY_KEY,
          config.directory(),
          "is in use by another process; stop that process or configure another directory");
    } catch (FileSystemException e) {
      directory.close();
      throw unusable(config, e);
    } catch (IOException e) {
      directory.close();
      throw new IOException(DIRECTORY_KEY + " = " + config.directory() + ": " + e, e);
    }
  }

  private static ConfigException unusable(IndexConfig.Lucene config, IOException reason) {
    return new ConfigException(
        DIRECTORY_KEY,
        config.directory(),
        "cannot be opened ("
            + reason
            + "); configure a directory that this user may create and write");
  }

  private void openWriter() throws IOException {
    writer =
        new IndexWriter(directory, new IndexWriterConfig().setRAMBufferSizeMB(BUFFER_MEGABYTES));
    SearcherManager before = searchers;
    searchers = new SearcherManager(writer, null);
    if (before != null) {
      before.close();
    }
  }

  @Override
  public WriteResult write(List<TraceDocument> documents) throws IOException {
    boolean kept = false;
    try {
      if (!writer.isOpen()) {
        openWriter();
      }
      long nowMillis = nowMillis();
      for (TraceDocument document : documents) {
        writer.updateDocument(new Term(ID, Documents.id(document)), toLucene(document, nowMillis));
      }
      expire(nowMillis);
      writer.commit();
      searchers.maybeRefreshBlocking();
      kept = true;
      return WriteResult.kept(documents.size());
    } catch (AlreadyClosedException e) {
      throw new IOException("The index in " + config.directory() + " was closed after an error", e);
    } finally {
      healthy = kept;
    }
  }

  /**
   * Returns the time by elapsed time since the start: a step of the wall clock makes no document
   * older.
   */
  private long nowMillis() {
    return startMillis + TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong() - startNanos);
  }

  /**
   * Deletes documents older than the retention, and the first stored ones above the maximum number.
   */
  private void expire(long nowMillis) throws IOException {
    long oldestMillis = nowMillis - config.retention().toMillis();
    writer.deleteDocuments(LongField.newRangeQuery(KEPT, Long.MIN_VALUE, oldestMillis - 1));
    // A tenth of slack, so that the first stored documents are not searched for at each write.
    if (writer.getDocStats().numDocs > config.maxDocuments() + config.maxDocuments() / 10L) {
      deleteFirstKept();
    }
  }

  private void deleteFirstKept() throws IOException {
    searchers.maybeRefreshBlocking();
    SearcherManager manager = searchers;
    IndexSearcher searcher = manager.acquire();
    try {
      int excess = searcher.getIndexReader().numDocs() - config.maxDocuments();
      if (excess <= 0) {
        return;
      }
      ScoreDoc[] firstKept =
          searcher.search(MatchAllDocsQuery.INSTANCE, excess, FIRST_KEPT_FIRST).scoreDocs;
      FieldDoc last = (FieldDoc) firstKept[firstKept.length - 1];
      long keptMillis = (Long) last.fields[0];
      BytesRef id = (BytesRef) last.fields[1];
      writer.deleteDocuments(LongField.newRangeQuery(KEPT, Long.MIN_VALUE, keptMillis - 1));
      writer.deleteDocuments(
          new BooleanQuery.Builder()
              .add(LongField.newExactQuery(KEPT, keptMillis), Occur.FILTER)
              .add(new TermRangeQuery(ID, null, id, true, true), Occur.FILTER)
              .build());
    } finally {
      manager.release(searcher);
    }
  }

  @Override
  public TracePage search(TraceQuery query) throws IOException {
    try {
      SearcherManager manager = searchers;
      IndexSearcher searcher = manager.acquire();
      try {
        return search(searcher, query);
      } finally {
        manager.release(searcher);
      }
    } catch (AlreadyClosedException e) {
      throw new IOException("The index in " + config.directory() + " is closed", e);
    }
  }

  private static TracePage search(IndexSearcher searcher, TraceQuery query) throws IOException {
    int maxDoc = searcher.getIndexReader().maxDoc();
    if (maxDoc == 0) {
      return new TracePage(List.of(), null);
    }
    Cursor cursor = query.cursor();
    FieldDoc after =
        cursor == null
            ? null
            // The last document number, so that all documents with equal keys count as seen.
            : new FieldDoc(
                maxDoc - 1,
                Float.NaN,
                new Object[] {cursor.startUnixNanos(), new BytesRef(Documents.id(cursor))});
    ScoreDoc[] hits =
        searcher.searchAfter(after, toLucene(query), query.limit() + 1, NEWEST_FIRST).scoreDocs;
    StoredFields stored = searcher.storedFields();
    List<TraceDocument> documents = new ArrayList<>(Math.min(hits.length, query.limit()));
    for (int i = 0; i < hits.length && i < query.limit(); i++) {
      documents.add(fromLucene(stored.document(hits[i].doc)));
    }
    return new TracePage(
        documents, hits.length > query.limit() ? Cursor.of(documents.getLast()) : null);
  }

  private static Query toLucene(TraceQuery query) {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    all.add(
        query.toUnixNanos() == Long.MAX_VALUE
            ? LongField.newRangeQuery(START, query.fromUnixNanos(), Long.MAX_VALUE)
            : LongField.newRangeQuery(START, query.fromUnixNanos(), query.toUnixNanos() - 1),
        Occur.FILTER);
    filter(all, APPLICATION, query.application());
    if (query.visible() != null) {
      BooleanQuery.Builder any = new BooleanQuery.Builder();
      for (String pattern : query.visible()) {
        any.add(
            new WildcardQuery(new Term(APPLICATION, Documents.wildcard(pattern))), Occur.SHOULD);
      }
      all.add(any.build(), Occur.FILTER);
    }
    filter(all, OPERATION, query.operation());
    filter(all, REASON, query.reason() == null ? null : query.reason().label());
    return all.build();
  }

  private static void filter(BooleanQuery.Builder all, String field, String value) {
    if (value != null) {
      all.add(new TermQuery(new Term(field, value)), Occur.FILTER);
    }
  }

  private static Document toLucene(TraceDocument document, long nowMillis) {
    Document fields = new Document();
    fields.add(new KeywordField(ID, Documents.id(document), Field.Store.NO));
    fields.add(new LongField(KEPT, nowMillis, Field.Store.NO));
    fields.add(new LongField(START, Documents.startUnixNanos(document), Field.Store.YES));
    fields.add(new StoredField(TRACE_ID, document.traceId()));
    fields.add(new StoredField(SPAN_ID, document.spanId()));
    addName(fields, APPLICATION, document.application());
    addName(fields, OPERATION, document.operation());
    fields.add(new StringField(REASON, document.reason().label(), Field.Store.YES));
    fields.add(new StoredField(KIND, document.kind()));
    fields.add(new StoredField(STATUS, document.status()));
    fields.add(new StoredField(STATUS_MESSAGE, document.statusMessage()));
    fields.add(new StoredField(DURATION, document.durationNanos()));
    document
        .attributes()
        .forEach((key, value) -> {
          fields.add(new StoredField(ATTRIBUTE_KEY, key));
          fields.add(new StoredField(ATTRIBUTE_VALUE, value));
        });
    return fields;
  }

  /**
   * A name, as an indexed field or as another field if it is too long for filters: Lucene refuses
   * an indexed field in a document if the field was not indexed in the first one.
   */
  private static void addName(Document fields, String field, String name) {
    fields.add(
        name.length() <= MAX_FILTERED_LENGTH
            ? new StringField(field, name, Field.Store.YES)
            : new StoredField(field + LONG, name));
  }

  private static String name(Document fields, String field) {
    String name = fields.get(field);
    return name == null ? fields.get(field + LONG) : name;
  }

  private static TraceDocument fromLucene(Document fields) {
    String[] keys = fields.getValues(ATTRIBUTE_KEY);
    String[] values = fields.getValues(ATTRIBUTE_VALUE);
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < keys.length; i++) {
      attributes.put(keys[i], values[i]);
    }
    return new TraceDocument(
        fields.get(TRACE_ID),
        fields.get(SPAN_ID),
        name(fields, APPLICATION),
        name(fields, OPERATION),
        number(fields, KIND).intValue(),
        number(fields, STATUS).intValue(),
        fields.get(STATUS_MESSAGE),
        number(fields, START).longValue(),
        number(fields, DURATION).longValue(),
        Documents.reason(fields.get(REASON)),
        attributes);
  }

  private static Number number(Document fields, String field) {
    return fields.getField(field).numericValue();
  }

  private static Sort sort(String field, boolean descending) {
    return new Sort(
        LongField.newSortField(field, descending, SortedNumericSelector.Type.MIN),
        KeywordField.newSortField(ID, false, SortedSetSelector.Type.MIN));
  }

  @Override
  public boolean healthy() {
    return healthy;
  }

  @Override
  public void close() {
    try (directory) {
      try {
        searchers.close();
      } finally {
        writer.close();
      }
    } catch (IOException e) {
      LOG.warn("Failed to close the index in {}", config.directory(), e);
    }
  }
}
