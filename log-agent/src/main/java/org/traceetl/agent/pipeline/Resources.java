package org.traceetl.agent.pipeline;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.traceetl.agent.filter.ApplicationFilters;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.filter.SpanFilter;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;

/**
 * The resources seen of late with their routes, bounded in number and bytes; the one used longest
 * ago leaves. Owned by the pipeline thread.
 */
final class Resources {
  private static final int MAX_RESOURCES = 4_096;
  private static final int MAX_BYTES = 16 * 1024 * 1024;

  private final Consumer<Resource> leaving;
  private final Map<Resource, Resource> known = new LinkedHashMap<>(64, 0.75f, true);
  private final Resource probe = new Resource();
  private final Resource filtered = new Resource();
  private long bytes;

  /**
   * @param leaving told of each resource before it is forgotten
   */
  Resources(Consumer<Resource> leaving) {
    this.leaving = leaving;
  }

  /**
   * The resource with these attributes; one that is new gets its filters and its route by these.
   *
   * @param filter applies them
   */
  Resource find(
      Attributes attributes, Filters filters, SpanFilter filter, Router router, Topology topology) {
    probe.set(attributes);
    Resource found = known.get(probe);
    if (found != null) {
      return found;
    }
    ApplicationFilters ofApplication =
        filters.of(probe.applicationBytes(), probe.applicationOffset(), probe.applicationLength());
    Resource sent = probe;
    if (ofApplication != null && ofApplication.areChanging()) {
      filtered.set(filter.resource(ofApplication, attributes));
      sent = filtered;
    }
    Resource added =
        probe.routed(
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

  private void removeEldest() {
    Iterator<Resource> eldest = known.values().iterator();
    while (known.size() > 1 && (known.size() > MAX_RESOURCES || bytes > MAX_BYTES)) {
      Resource resource = eldest.next();
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
  }
}
