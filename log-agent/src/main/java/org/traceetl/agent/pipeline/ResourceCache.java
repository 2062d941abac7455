package org.traceetl.agent.pipeline;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.traceetl.agent.filter.AgentSpanFilter;
import org.traceetl.agent.filter.ApplicationFilters;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;

/**
 * The resources seen of late with their routes, bounded in number and bytes; the one used longest
 * ago leaves. Those for which the same rules are share their filters; where these become too large,
 * all leave. Owned by the pipeline thread.
 */
final class ResourceCache {
  /** A resource with more bytes of text, as it came or as it is sent, is too large. */
  static final int MAX_RESOURCE_TEXT_BYTES = 64 * 1024;

  private static final int MAX_RESOURCES = 4_096;
  private static final int MAX_BYTES = 16 * 1024 * 1024;

  /** Of filters. Thousands of selections of some rules, or the one of a very long file. */
  private static final int MAX_FILTER_BYTES = 2 * 1024 * 1024;

  private final Consumer<RoutedResource> leaving;
  private final Map<RoutedResource, RoutedResource> known = new LinkedHashMap<>(64, 0.75f, true);
  private final RoutedResource probe = new RoutedResource();
  private final RoutedResource filtered = new RoutedResource();
  private final Map<Filters.Selection, ApplicationFilters> ofSelections = new HashMap<>();
  private long bytes;
  private long filterBytes;

  /**
   * @param leaving told of each resource before it is forgotten
   */
  ResourceCache(Consumer<RoutedResource> leaving) {
    this.leaving = leaving;
  }

  /**
   * The resource with these attributes; one that is new gets its filters and its route by these.
   *
   * @param filter applies them
   */
  RoutedResource find(
      Attributes attributes,
      Filters filters,
      AgentSpanFilter filter,
      Router router,
      Topology topology) {
    probe.set(attributes);
    RoutedResource found = known.get(probe);
    if (found != null) {
      return found;
    }
    ApplicationFilters ofApplication = ofApplication(filters);
    RoutedResource sent = probe;
    if (ofApplication != null && ofApplication.areChanging()) {
      Attributes left = filter.resource(ofApplication, attributes);
      // What is redacted may have become longer.
      sent = left.textBytes() > MAX_RESOURCE_TEXT_BYTES ? null : filtered;
      if (sent != null) {
        sent.set(left);
      }
    }
    RoutedResource added =
        sent == null
            ? probe.tooLarge(ofApplication)
            : probe.routed(
                router.route(
                    sent.applicationBytes(),
                    sent.applicationOffset(),
                    sent.applicationLength(),
                    topology),
                ofApplication,
                sent);
    known.put(added, added);
    bytes += added.sizeBytes();
    removeEldest();
    return added;
  }

  /** The filters for the probe; null for none. */
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
        // Resources hold on to their filters: only without them are these gone.
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

  /** Forgets all; their routes or filters are out of date. */
  void clear() {
    known.values().forEach(leaving);
    known.clear();
    bytes = 0;
    ofSelections.clear();
    filterBytes = 0;
  }
}
