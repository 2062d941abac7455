package org.traceetl.agent.pipeline;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.detail.ExemplarTimes;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.AgentSpanFilter;
import org.traceetl.agent.filter.AgentSpanFilter.Change;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.ResourceCompletion;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.SeriesHash;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.Limits;

/**
 * Adds spans to open batches by resource and queue. It names full batches and adds them to the
 * frame; a commit closes all. Confined to the pipeline thread.
 */
final class Batcher implements SpanSink {
  /** A span with more bytes of text is rejected, because a batch must fit into a message. */
  static final int MAX_SPAN_TEXT_BYTES = 1024 * 1024;

  /**
   * A span with more bytes of skipped text is read whole, because filters count a value above this.
   */
  private static final int MAX_SKIPPED_TEXT_BYTES = Limits.MAX_STRING_BYTES;

  /** Reason for spans of an application that the routing rules exclude. */
  private static final String EXCLUDED = "excluded_application";

  /** Reason for spans that a drop rule of the filters file drops. */
  private static final String DROPPED = "dropped";

  private static final String SAMPLED_OUT = "sampled_out";

  /** Divisor of the limit of a batch: samples may use this part in addition. */
  private static final int SAMPLES_OF_BATCH = 2;

  /** Divisor of the limit of a frame: samples may use this part in addition. */
  private static final int SAMPLES_OF_FRAME = 8;

  /** Most time between the ends of the first and last span that waited, in a batch. */
  static final long MOST_SPREAD_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Times that a payload closes batches because of it: wrong times must not make many batches. */
  static final int MOST_SEPARATED = 256;

  /** Instead of its end: the span has not waited. */
  static final long NOT_WAITED = Long.MAX_VALUE;

  private enum Cause {
    SIZE,
    SPANS,
    TIME,
    COMMIT,
    POOL,
    ROUTING,
    FILTERS,
    DEMAND,
    RESOURCES;

    final String label = name().toLowerCase(Locale.ROOT);
  }

  private final PipelineConfig config;
  private final Frame frame;
  private final long mostFrameBytes;
  private final PipelineMetrics metrics;
  private final ResourceCache resources;
  private final SeriesHash seriesHash = new SeriesHash();
  private final AgentSpanFilter filter = new AgentSpanFilter();
  private final WantedEvents wantedEvents;
  // In the order of opening.
  private final LinkedHashSet<OpenBatch> open = new LinkedHashSet<>();
  private final BatchPool pool;
  private final Map<BrokerQueue, Long> nextSequences = new HashMap<>();
  private final WrittenBatch written = new WrittenBatch();
  private final ExemplarTimes exemplars = new ExemplarTimes();
  private final KnownGroups knownGroups = new KnownGroups();
  private final EdgeBatches edges;
  private final LongSupplier nanoClock;
  private final LongSupplier unixMillis;
  private Rules rules = Rules.NONE;
  private ResourceCompletion completion = ResourceCompletion.NONE;
  private PendingPayload payload;
  // When it began.
  private long nowNanos;
  private RoutedResource resource;
  private boolean resourceTooLarge;
  // Whether the payload's spans may have waited, and how often that closed batches.
  private boolean waited;
  private int separated;
  // Whether the next span is an exemplar that was left to be read whole.
  private boolean exemplar;
  // Spans of the current payload, by reason.
  private int dropped;
  private int sampledOut;
  // Whether the payload's end must report counts and release texts.
  private boolean filtering;
  // A failure during a call by the decoder; the open batches must not be committed after it.
  private RuntimeException fault;

  /**
   * Creates a batcher that fills the frame.
   *
   * @param mostFrameBytes limit above which further spans are rejected, because a payload must be
   *     in one frame
   * @param unixMillis the wall clock, for spans that waited for the agent
   */
  Batcher(
      PipelineConfig config,
      Frame frame,
      long mostFrameBytes,
      PipelineMetrics metrics,
      LongSupplier nanoClock,
      LongSupplier unixMillis) {
    this.config = config;
    this.wantedEvents = WantedEvents.of(config.events().names(), config.events().attributes());
    this.frame = frame;
    this.mostFrameBytes = mostFrameBytes;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.unixMillis = unixMillis;
    this.pool = new BatchPool(config.mostHeldByBatch(), nanoClock);
    this.edges = new EdgeBatches(config, nanoClock, this::closeEdges);
    this.resources = new ResourceCache(leaving -> closeAllOf(leaving, Cause.RESOURCES));
  }

  /** Sets the rules and queues; closes the open batches. */
  void route(Router router, Topology topology) {
    closeAll(Cause.ROUTING);
    resources.clear();
    seriesHash.forget();
    rules = rules.with(router, topology);
  }

  /** Sets the filters; closes the open batches. */
  void filter(Filters filters) {
    closeAll(Cause.FILTERS);
    resources.clear();
    rules = rules.with(filters);
  }

  /** Sets which spans are sent whole, and whether with sizes; closes the open batches. */
  void detail(Detail detail) {
    closeAll(Cause.DEMAND);
    resources.clear();
    rules = rules.with(detail);
  }

  /** Sets whose half-edges are sent, and to which queues; closes the open batches. */
  void edges(Edges edges) {
    closeAll(Cause.ROUTING);
    resources.clear();
    this.edges.closeAll();
    this.edges.use(edges);
    rules = rules.with(edges);
  }

  /** Sets what adds attributes to resources. */
  void completing(ResourceCompletion completion) {
    this.completion = completion;
  }

  /** Begins a payload; the next spans belong to it. */
  void payload(PendingPayload payload) {
    this.payload = payload;
    edges.payload();
    waited = payload.mayHaveWaited();
    separated = 0;
    nowNanos = nanoClock.getAsLong();
    resource = null;
    resourceTooLarge = false;
    exemplar = false;
  }

  /** Ends the payload: reports its filtered spans and releases its texts. */
  void endPayload() {
    completion.forget();
    if (!filtering) {
      return;
    }
    filtering = false;
    filtered(DROPPED, dropped);
    filtered(SAMPLED_OUT, sampledOut);
    dropped = 0;
    sampledOut = 0;
    for (Change change : Change.values()) {
      long count = filter.take(change);
      if (count > 0) {
        metrics.spanChanges.labels(payload.source, change.label).inc(count);
      }
    }
    filter.forget();
  }

  private void filtered(String reason, int count) {
    if (count > 0) {
      metrics.spansFiltered.labels(payload.source, reason).inc(count);
    }
  }

  /**
   * Throws the exception that the batcher threw during a call by the decoder, even if the decoder
   * caught it. After it, batches may lack spans of earlier payloads.
   */
  void throwFault() {
    if (fault != null) {
      throw fault;
    }
  }

  @Override
  public void resource(Attributes attributes) {
    try {
      take(attributes);
    } catch (RuntimeException e) {
      fault = e;
      throw e;
    }
  }

  private void take(Attributes received) {
    Attributes attributes = completion.complete(received, payload.sender());
    if (attributes.textBytes() > ResourceCache.MAX_RESOURCE_TEXT_BYTES) {
      // Spans count without the added attributes rather than not at all.
      attributes = received;
    }
    resourceTooLarge = attributes.textBytes() > ResourceCache.MAX_RESOURCE_TEXT_BYTES;
    if (!resourceTooLarge) {
      resource = resources.find(attributes, rules, filter);
      resourceTooLarge = resource.isTooLarge();
      filtering |= resource.filters() != null;
    }
  }

  @Override
  public KeySet wantedKeys() {
    return resourceTooLarge || resource.filters() == null ? null : resource.filters().wantedKeys();
  }

  @Override
  public KeySet firstKeys() {
    return resourceTooLarge ? null : resource.firstKeys();
  }

  @Override
  public KeySet additionalKeys(int kind) {
    return resourceTooLarge || resource.edges() == null
        ? null
        : resource.edges().additionalKeys(kind);
  }

  @Override
  public boolean needsAll(SpanView span) {
    return !resourceTooLarge && resource.detail() != null && resource.detail().isWhole(span);
  }

  @Override
  public WantedEvents wantedEvents() {
    return wantedEvents;
  }

  @Override
  public boolean span(SpanView span) {
    try {
      return take(span);
    } catch (RuntimeException e) {
      fault = e;
      throw e;
    }
  }

  /** Takes a span; returns false, and counts nothing, if it needs attributes that were skipped. */
  private boolean take(SpanView span) {
    if (resourceTooLarge) {
      rejected("resource_too_large");
      return true;
    }
    if (resource.route() == null) {
      payload.filter();
      metrics.spansFiltered.labels(payload.source, EXCLUDED).inc();
      return true;
    }
    boolean inPart = resource.firstKeys() != null && span.attributesNotWanted > 0;
    if (inPart
        && (span.textNotWanted > MAX_SKIPPED_TEXT_BYTES || needsAll(span) || isSampled(span))) {
      return false;
    }
    if (resource.filters() == null) {
      return batch(span, span, false, inPart);
    }
    switch (filter.apply(resource.filters(), span)) {
      case KEPT -> {
        return takenOrUndone(batch(span, filter.span(), false, inPart));
      }
      case MEASURED -> {
        return takenOrUndone(batch(span, filter.span(), true, inPart));
      }
      case DROPPED -> {
        payload.filter();
        dropped++;
      }
      case SAMPLED_OUT -> {
        payload.filter();
        sampledOut++;
      }
    }
    return true;
  }

  private boolean takenOrUndone(boolean taken) {
    if (!taken) {
      filter.undo();
    }
    return taken;
  }

  /**
   * Adds a filtered span to its batch, or rejects it.
   *
   * @param received the span before the filters
   * @param inPart whether attributes were skipped that it may need
   * @return false if it needs them
   */
  private boolean batch(SpanView received, SpanView span, boolean measured, boolean inPart) {
    if (inPart && mayExceed(span)) {
      return false;
    }
    // An exemplar was within the limits before it was read whole.
    if (!exemplar && isRejected(span)) {
      return true;
    }
    long endNanos = waited ? endNanos(span) : NOT_WAITED;
    if (waited) {
      separate(endNanos);
    }
    boolean mayBeKnown = inPart && !measured && !exemplar && mayBeKnown(span);
    OpenBatch batch = mayBeKnown ? knownGroups.add(span, resource) : null;
    if (batch != null) {
      payload.group();
    } else {
      batch = place(span, measured, inPart, mayBeKnown);
      if (batch == null) {
        return false;
      }
    }
    payload.accept();
    batch.ended(endNanos);
    if (resource.edges() != null) {
      // A measured span has only the dimensions of its rule.
      Attributes attributes =
          measured && resource.edges().additionalKeys(span.kind) != null
              ? filter.wholeAttributes(resource.filters(), received)
              : span.attributes;
      edges.add(span, attributes, resource, endNanos);
    }
    if (span.events.size() > 0) {
      metrics.eventsAccepted.inc(span.events.size());
    }
    if (span.eventsLeftOut > 0) {
      metrics.eventsLeftOut.inc(span.eventsLeftOut);
    }
    if (batch.isFull(config.batchSpans())) {
      close(batch, Cause.SPANS);
    } else if (batch.spanBytes() >= config.batchBytes()) {
      close(batch, Cause.SIZE);
    }
    return true;
  }

  private static long endNanos(SpanView span) {
    long end = span.startUnixNanos + span.durationNanos;
    return end < 0 ? NOT_WAITED : end;
  }

  /**
   * Closes the resource's batches if the next span ended long after their first one: a backlog
   * would count at one time.
   */
  private void separate(long endNanos) {
    long firstNanos = resource.firstEndNanos();
    if (firstNanos >= 0
        && endNanos - firstNanos > MOST_SPREAD_NANOS
        && separated < MOST_SEPARATED) {
      separated++;
      closeAllOf(resource, Cause.TIME);
      firstNanos = -1;
    }
    if (firstNanos < 0) {
      resource.firstEndNanos(endNanos);
    }
  }

  /**
   * Adds a span to the batch of its queue.
   *
   * @param looked whether its group was looked for and not found
   * @return the batch; null if the span needs attributes that were skipped
   */
  private OpenBatch place(SpanView span, boolean measured, boolean inPart, boolean looked) {
    int candidate = resource.route().candidate(span, seriesHash);
    OpenBatch batch = resource.open(candidate);
    if (batch == null) {
      batch = open(resource, candidate);
    }
    if (measured) {
      batch.addUnremarkable(span);
      payload.measure();
    } else if (!add(span, batch, inPart)) {
      return null;
    }
    if (looked) {
      knownGroups.put(candidate, batch.lastGroup());
    }
    return batch;
  }

  /**
   * Returns whether to look for the group of an ordinary span that was read in part. Its group must
   * determine its queue, and it must have no attributes but those of the group. It is no member of
   * the sample, because these are read whole.
   */
  private boolean mayBeKnown(SpanView span) {
    return span.events.size() == 0
        && hasOnlyDemanded(true)
        && resource.route().isBySeries()
        && knownGroups.isWorth(resource);
  }

  /** Returns whether a span of the resource has no attributes but those that servers demand. */
  private boolean hasOnlyDemanded(boolean inPart) {
    return inPart && resource.firstKeys() == resource.detail().keySet();
  }

  /** Rejects a span with too much text, or removes its events if these are too much. */
  private boolean isRejected(SpanView span) {
    long text = (long) span.nameLength + span.statusMessageLength + span.attributes.textBytes();
    if (text > MAX_SPAN_TEXT_BYTES) {
      rejected("span_too_large");
      return true;
    }
    text += span.events.textBytes();
    if (text > MAX_SPAN_TEXT_BYTES) {
      // The span counts without its events.
      text -= span.events.textBytes();
      span.eventsLeftOut += span.events.size();
      span.events.clear();
    }
    if (usedFrameBytes() + text + edges.linkBytes(span) > mostFrameBytes) {
      rejected("payload_too_large");
      return true;
    }
    return false;
  }

  /** Returns whether the span could exceed a limit of text if all its attributes were read. */
  private boolean mayExceed(SpanView span) {
    long most =
        (long) span.nameLength
            + span.statusMessageLength
            + span.attributes.textBytes()
            + span.events.textBytes()
            + MAX_SKIPPED_TEXT_BYTES;
    return most > MAX_SPAN_TEXT_BYTES
        || usedFrameBytes() + most + edges.linkBytes(span) > mostFrameBytes;
  }

  private long usedFrameBytes() {
    return frame.bodyBytes() - frame.sampleBytes() + edges.bytes();
  }

  private boolean add(SpanView span, OpenBatch batch, boolean inPart) {
    DemandedDetail detail = resource.detail();
    if (!exemplar && detail != null && !detail.isWhole(span)) {
      boolean onlyDemanded = hasOnlyDemanded(inPart);
      if (!batch.startGrouped(span, detail, onlyDemanded)
          || !isExemplar(span, detail, onlyDemanded)) {
        batch.addGrouped(span, detail);
        payload.group();
        if (isSampled(span)) {
          sample(span, batch, detail);
        }
        return true;
      }
      exemplar = inPart;
      if (inPart) {
        return false;
      }
    }
    exemplar = false;
    batch.add(span, isSampled(span));
    return true;
  }

  /** Returns whether a span of an application with a demand is a member of the sample. */
  private boolean isSampled(SpanView span) {
    DemandedDetail detail = resource.detail();
    return detail != null && span.isSampledAt(detail.sampleThreshold());
  }

  private void sample(SpanView span, OpenBatch batch, DemandedDetail detail) {
    long threshold = Math.max(detail.sampleThreshold(), span.samplingThreshold);
    long most =
        Math.min(
            config.batchBytes() / SAMPLES_OF_BATCH,
            mostFrameBytes / SAMPLES_OF_FRAME - frame.sampleBytes());
    if (batch.addSample(span, threshold, most)) {
      metrics.samplesSent.inc();
    } else {
      metrics.samplesLeftOut.inc();
    }
  }

  private boolean isExemplar(SpanView span, DemandedDetail detail, boolean onlyDemanded) {
    long series =
        detail.hash(resource.route().seriesOfLast(span, seriesHash), span.attributes, onlyDemanded);
    return exemplars.takes(series, nowNanos, detail.exemplarIntervalNanos());
  }

  @Override
  public void rejected(String reason) {
    payload.reject(reason);
    metrics.spansRejected.labels(payload.source, reason).inc();
  }

  private OpenBatch open(RoutedResource resource, int candidate) {
    if (open.size() >= config.openBatches()) {
      close(open.getFirst(), Cause.POOL);
    }
    OpenBatch batch = pool.take();
    batch.open(resource, candidate, rules.detail().needsSizes());
    resource.setOpen(candidate, batch);
    knownGroups.opened(resource);
    open.add(batch);
    return batch;
  }

  /** Frees the memory of batches that were not needed recently. */
  void trim() {
    pool.trim();
    edges.trim();
  }

  /** Adds all open batches to the frame. */
  void closeForCommit() {
    closeAll(Cause.COMMIT);
    edges.closeAll();
  }

  /**
   * Discards the open batches and caches after a failure. The payloads since the last commit are
   * refused.
   */
  void discard() {
    for (OpenBatch batch : open) {
      batch.resource().setOpen(batch.candidate(), null);
    }
    open.clear();
    edges.discard();
    resources.clear();
    seriesHash.forget();
    fault = null;
  }

  private void closeAll(Cause cause) {
    while (!open.isEmpty()) {
      close(open.getFirst(), cause);
    }
  }

  private void closeAllOf(RoutedResource leaving, Cause cause) {
    for (int i = 0; i < leaving.candidates(); i++) {
      if (leaving.open(i) != null) {
        close(leaving.open(i), cause);
      }
    }
  }

  private void close(OpenBatch batch, Cause cause) {
    open.remove(batch);
    RoutedResource owner = batch.resource();
    owner.setOpen(batch.candidate(), null);
    if (!owner.hasOpen()) {
      owner.firstEndNanos(-1);
    }
    BrokerQueue queue = owner.route().queue(batch.candidate());
    long sequence = nextSequence(queue);
    AgentIdentity identity = frame.agent();
    byte[] body = batch.finish(identity.high(), identity.low(), identity.epoch(), sequence);
    int spans = batch.spans();
    written.requireReadable(body, identity, sequence, spans);
    metrics.batchesClosed.labels(cause.label).inc();
    frame.add(queue, sequence, body, spans, waitedMillis(batch.lastEndNanos()));
    frame.addSampleBytes(batch.sampleBytes());
    batch.release();
    pool.give(batch);
  }

  private void closeEdges(BrokerQueue queue, EdgeBatchWriter batch, long lastEndNanos) {
    long sequence = nextSequence(queue);
    AgentIdentity identity = frame.agent();
    int length = batch.finish(identity.high(), identity.low(), identity.epoch(), sequence);
    byte[] body = Arrays.copyOf(batch.buffer(), length);
    written.requireEdgesReadable(body, identity, sequence, batch.halfCount());
    frame.add(queue, sequence, body, batch.halfCount(), waitedMillis(lastEndNanos));
  }

  private long nextSequence(BrokerQueue queue) {
    return nextSequences.merge(queue, 1L, Long::sum) - 1;
  }

  private long waitedMillis(long lastEndNanos) {
    return unixMillis.getAsLong() - TimeUnit.NANOSECONDS.toMillis(lastEndNanos);
  }
}
