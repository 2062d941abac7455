package org.traceetl.perf.simulate.server;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.simulate.check.Document;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.features.index.ElasticsearchLayout;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.IndexType;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.features.index.TraceQuery;
import org.traceetl.server.features.index.WriteResult;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.node.ObjectNode;

/**
 * An Elasticsearch in memory, which all servers of a world share. A document that is created again
 * under its ID stays one, as {@code op_type=create} answers 409 (Elasticsearch, Bulk API).
 *
 * <p>What it does under trouble was seen with real clusters: {@code ElasticsearchFailureTest} has a
 * cluster that is away, and rejected writes. Elasticsearch answers 429 with {@code
 * es_rejected_execution_exception} to the documents of a full shard only, and 503 for the whole
 * request while it elects a master. A request whose answer is lost or late was executed.
 */
public final class SimulatedIndex implements Durable {
  /** As trace-etl.index.elasticsearch.request-timeout by default. */
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final long REFUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long FASTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long SLOWEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** How long after the client's timeout a late request is executed at most. */
  private static final long LATEST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final int PER_MILLE = 1_000;

  /** What happens to a request under trouble. */
  private enum Outcome {
    /** Executed; the client gets no answer. */
    LOST,
    /** Executed after the client's timeout. */
    LATE,
    /** Not executed: 429 or 503 for the whole request. */
    REJECTED,
    /** Executed for some of the documents: 429 for each of the others. */
    PARTIAL
  }

  /** As a server addresses its documents. */
  private static final ElasticsearchLayout LAYOUT =
      ElasticsearchLayout.dataStream(
          IndexConfig.Elasticsearch.at(List.of(URI.create("http://index:9200"))));

  private final World world;
  private final DocumentIds ids = new DocumentIds();
  private final SortedMap<String, Document> created = new TreeMap<>();
  private final SortedMap<String, Document> exemplars = new TreeMap<>();

  /** IDs of documents that lack an attribute which their spans have, if these have any. */
  private final SortedSet<String> withoutPath = new TreeSet<>();

  private long repeated;
  private boolean away;
  private int troublePerMille;

  public SimulatedIndex(World world) {
    this.world = world;
  }

  /** Returns what opens this index for the servers of a process. */
  IndexType.Opener opener(Process process) {
    return (config, clocks) -> new Client(process);
  }

  /** Lets the whole cluster be unreachable. */
  public void away(boolean isAway) {
    away = isAway;
  }

  /** Lets some requests, of a thousand, be rejected, executed partly, or answered late or never. */
  public void trouble(int perMille) {
    troublePerMille = perMille;
  }

  /** Returns the documents of slow and failed spans, by ID. */
  public SortedMap<String, Document> created() {
    return Collections.unmodifiableSortedMap(created);
  }

  /** Returns the documents of exemplars, by ID. */
  public SortedMap<String, Document> exemplars() {
    return Collections.unmodifiableSortedMap(exemplars);
  }

  /** Forgets the documents, but not which IDs exist. */
  public void forgetCreated() {
    created.clear();
    exemplars.clear();
    withoutPath.clear();
  }

  /** Returns the IDs of documents without {@link Document#PATH}. */
  public SortedSet<String> withoutPath() {
    return Collections.unmodifiableSortedSet(withoutPath);
  }

  /** Returns how often a document was to be created again. */
  public long repeated() {
    return repeated;
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    long[] hashes = ids.hashes();
    to.writeInt(hashes.length);
    for (long hash : hashes) {
      to.writeLong(hash);
    }
    Document.write(created, to);
    Document.write(exemplars, to);
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      ids.add(from.readLong());
    }
    Document.read(from, created);
    Document.read(from, exemplars);
  }

  private void create(List<TraceDocument> documents) {
    for (TraceDocument document : documents) {
      var operation = LAYOUT.create(document).create();
      world.timeline().operation("index.create", operation.id());
      if (!ids.add(operation.id())) {
        repeated++;
      } else {
        if (!Document.hasPath(document)) {
          withoutPath.add(operation.id());
        }
        boolean isExemplar = document.reason() == TraceDocument.Reason.EXEMPLAR;
        (isExemplar ? exemplars : created)
            .put(operation.id(), stored((ObjectNode) operation.document()));
      }
    }
  }

  /** Reads the fields of {@code index-template.json}. */
  private static Document stored(ObjectNode json) {
    Instant start = Instant.parse(json.get("@timestamp").asString());
    return new Document(
        json.get("application").asString(),
        json.get("operation").asString(),
        json.get("kind").asInt(),
        json.get("status").asInt(),
        TimeUnit.SECONDS.toNanos(start.getEpochSecond()) + start.getNano(),
        json.get("duration_nanos").asLong(),
        json.get("reason").asString());
  }

  private Outcome drawn() {
    return world.random().nextInt(PER_MILLE) < troublePerMille
        ? Outcome.values()[world.random().nextInt(Outcome.values().length)]
        : null;
  }

  /** The client of one server. */
  private final class Client implements TraceIndex {
    private final Process process;
    private boolean healthy = true;

    Client(Process process) {
      this.process = process;
    }

    @Override
    public WriteResult write(List<TraceDocument> documents) throws IOException {
      process.enter("index.write");
      healthy = false;
      if (away) {
        sleep(REFUSED_NANOS);
        throw new IOException("the connection to the simulated index was refused");
      }
      Outcome outcome = drawn();
      sleep(world.random().nextLong(FASTEST_NANOS, SLOWEST_NANOS));
      WriteResult result =
          switch (outcome) {
            case null -> {
              create(documents);
              yield WriteResult.kept(documents.size());
            }
            case REJECTED ->
                throw new IOException("the simulated index answered 503 to the request");
            case PARTIAL -> partly(documents);
            case LOST -> {
              create(documents);
              throw unanswered();
            }
            case LATE -> {
              List<TraceDocument> sent = List.copyOf(documents);
              world.after(
                  TIMEOUT_NANOS + world.random().nextLong(LATEST_NANOS), () -> create(sent));
              throw unanswered();
            }
          };
      healthy = result.again().isEmpty();
      return result;
    }

    private void sleep(long nanos) throws InterruptedIOException {
      try {
        world.sleep(nanos);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted in a call of the simulated index");
      }
    }

    private IOException unanswered() throws InterruptedIOException {
      sleep(TIMEOUT_NANOS);
      return new IOException("the simulated index did not answer in time");
    }

    private WriteResult partly(List<TraceDocument> documents) {
      List<TraceDocument> taken = new ArrayList<>();
      List<TraceDocument> again = new ArrayList<>();
      documents.forEach(document -> (world.random().nextBoolean() ? taken : again).add(document));
      create(taken);
      return new WriteResult(taken.size(), List.of(), again);
    }

    /** Finds nothing: the checkers read {@link #created}. */
    @Override
    public TracePage search(TraceQuery query) {
      return new TracePage(List.of(), null);
    }

    @Override
    public boolean healthy() {
      return healthy;
    }

    @Override
    public void close() {
      // The cluster stays.
    }
  }
}
