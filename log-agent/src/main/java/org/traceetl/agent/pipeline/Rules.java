package org.traceetl.agent.pipeline;

import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;

/** The rules in use for resources and their spans. Immutable. */
record Rules(Filters filters, Detail detail, Edges edges, Router router, Topology topology) {
  /** No filters, full detail, no half-edges, and no queues yet. */
  static final Rules NONE = new Rules(Filters.NONE, Detail.FULL, Edges.NONE, null, null);

  Rules with(Filters filters) {
    return new Rules(filters, detail, edges, router, topology);
  }

  Rules with(Detail detail) {
    return new Rules(filters, detail, edges, router, topology);
  }

  Rules with(Edges edges) {
    return new Rules(filters, detail, edges, router, topology);
  }

  Rules with(Router router, Topology topology) {
    return new Rules(filters, detail, edges, router, topology);
  }
}
