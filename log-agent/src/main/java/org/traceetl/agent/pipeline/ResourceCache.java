package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.filter.AgentSpanFilter;
import org.traceetl.agent.filter.ApplicationFilters;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;

/**
 * A cache of resources with their routes, bounded in number and bytes; the least recently used one
 * is evicted. Resources with the same rules share their filters, and those of one application their
 * detail. If the filters become too large, the cache is cleared. Confined to the pipeline thread.
 */
final class ResourceCache {
  /** Limit for a resource's bytes of text, as received and as sent. */
  static final int MAX_RESOURCE_TEXT_BYTES = 64 * 1024;

  private static final int MAX_RESOURCES = 4_096;
  private static final int MAX_BYTES = 16 * 1024 * 1024;

  /** Most bytes of an application's name whose detail is kept. */
  private static final int MAX_KEPT_NAME_BYTES = 256;

  /**
   * Most bytes of application and namespace of resources that leave half-edges: each batch of
   * half-edges repeats them.
   */
  private static final int MAX_EDGE_NAME_BYTES = 1_024;

  /**
   * Bytes of filters: enough for thousands of selections of a few rules, or one of a very long
   * file.
   */
  private static final int MAX_FILTER_BYTES = 2 * 1024 * 1024;

  private final Consumer<RoutedResource> leaving;
  private final Map<RoutedResource, RoutedResource> known = new LinkedHashMap<>(64, 0.75f, true);
  private final RoutedResource probe = new RoutedResource();
  private final RoutedResource filtered = new RoutedResource();
  private final Map<Filters.Selection, ApplicationFilters> ofSelections = new HashMap<>();
  private final Map<String, DemandedDetail> ofApplications = new HashMap<>();
  private final FirstKeys firstKeys = new FirstKeys();
  private long bytes;
  private long filterBytes;

  /**
   * @param leaving receives each resource before it is removed
   */
  ResourceCache(Consumer<RoutedResource> leaving) {
    this.leaving = leaving;
  }

  /**
   * Returns the resource with these attributes; a new one gets its filters, its route and its
   * detail.
   *
   * @param filter applies the filters
   */
  RoutedResource find(Attributes attributes, Rules rules, AgentSpanFilter filter) {
    probe.set(attributes);
    RoutedResource found = known.get(probe);
    if (found != null) {
      return found;
    }
    ApplicationFilters ofApplication = ofApplication(rules.filters());
    RoutedResource sent = probe;
    if (ofApplication != null && ofApplication.areChanging()) {
      Attributes left = filter.resource(ofApplication, attributes);
      // Redaction may have made it longer.
      sent = left.textBytes() > MAX_RESOURCE_TEXT_BYTES ? null : filtered;
      if (sent != null) {
        sent.set(left);
      }
    }
    RoutedResource added =
        sent == null ? probe.tooLarge(ofApplication) : routed(sent, rules, ofApplication);
    known.put(added, added);
    bytes += added.sizeBytes();
    removeEldest();
    return added;
  }

  /** Returns the probe's copy with the route and detail of the application that is sent. */
  private RoutedResource routed(RoutedResource sent, Rules rules, ApplicationFilters filters) {
    byte[] name = sent.applicationBytes();
    int offset = sent.applicationOffset();
    int length = sent.applicationLength();
    DemandedDetail detail = detail(rules.detail(), name, offset, length);
    EdgeAttributes edges =
        length + sent.namespaceLength() <= MAX_EDGE_NAME_BYTES
                && rules.edges().areSent(name, offset, length)
            ? rules.edges().attributes()
            : null;
    return probe.routed(
        rules.router().route(name, offset, length, rules.topology()),
        filters,
        detail,
        edges,
        firstKeys.of(filters, detail, edges),
        sent);
  }

  /** Returns what servers demand of an application; null if all its spans are sent whole. */
  private DemandedDetail detail(Detail detail, byte[] name, int offset, int length) {
    if (length > MAX_KEPT_NAME_BYTES) {
      return detail.of(name, offset, length);
    }
    String application = new String(name, offset, length, UTF_8);
    DemandedDetail kept = ofApplications.get(application);
    if (kept != null) {
      return kept;
    }
    DemandedDetail made = detail.of(name, offset, length);
    if (made != null) {
      if (ofApplications.size() >= MAX_RESOURCES) {
        ofApplications.clear();
      }
      ofApplications.put(application, made);
    }
    return made;
  }

  /** Returns the filters for the probe; null for none. */
  private ApplicationFilters ofApplication(Filters filters) {
    Filters.Selection selection =
        filters.select(
            probe.applicationBytes(), probe.applicationOffset(), probe.applicationLength());
    ApplicationFilters shared = ofSelections.get(selection);
    if (shared != null) {
      return shared;
    }
    ApplicationFilters made = filters.of(selection);
    if (made != null) {
      if (filterBytes + made.sizeBytes() > MAX_FILTER_BYTES) {
        // Resources refer to their filters, so both are removed.
        clear();
      }
      ofSelections.put(selection, made);
      filterBytes += made.sizeBytes();
    }
    return made;
  }

  private void removeEldest() {
    Iterator<RoutedResource> eldest = known.values().iterator();
    while (known.size() > 1 && (known.size() > MAX_RESOURCES || bytes > MAX_BYTES)) {
      RoutedResource resource = eldest.next();
      leaving.accept(resource);
      eldest.remove();
      bytes -= resource.sizeBytes();
    }
  }

  /** Removes all resources, because their routes, filters or details are out of date. */
  void clear() {
    known.values().forEach(leaving);
    known.clear();
    bytes = 0;
    ofSelections.clear();
    ofApplications.clear();
    firstKeys.clear();
    filterBytes = 0;
  }
}
