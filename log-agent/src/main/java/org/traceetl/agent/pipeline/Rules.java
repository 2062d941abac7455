package org.traceetl.agent.pipeline;

import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;

/** The rules in use for resources and their spans. Immutable. */
record Rules(Filters filters, Detail detail, Router router, Topology topology) {
  /** No filters, full detail, and no queues yet. */
  static final Rules NONE = new Rules(Filters.NONE, Detail.FULL, null, null);

  Rules with(Filters filters) {
    return new Rules(filters, detail, router, topology);
  }

  Rules with(Detail detail) {
    return new Rules(filters, detail, router, topology);
  }

  Rules with(Router router, Topology topology) {
    return new Rules(filters, detail, router, topology);
  }
}
