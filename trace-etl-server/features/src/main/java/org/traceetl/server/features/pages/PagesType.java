package org.traceetl.server.features.pages;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.component.Component;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.expose.EdgeNaming;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Pages with the names of the profile, unless the profile shows the series itself. */
public final class PagesType implements FeatureType {
  private static final Logger log = LoggerFactory.getLogger(PagesType.class);

  @Override
  public Feature create(Record own, ServerContext context) {
    Component ofProfile =
        context.profile().pages(context.journal(), context.telemetry(), context.clocks());
    if (ofProfile != null) {
      if (context.config().edges().enabled()) {
        log.warn(
            "This server reads half-edges, but its pages have no edges: profile {} shows its series"
                + " itself",
            context.config().metrics().profile().id());
      }
      return (Feature) ofProfile;
    }
    CoreConfig config = context.config();
    Naming ofProfileOnly = context.profile().naming();
    Naming spans =
        ofProfileOnly == null
            ? new SpanNaming(config.metrics(), config.series(), config.histogram())
            : ofProfileOnly;
    Naming edges =
        config.edges().enabled()
            ? new EdgeNaming(config.histogram(), spans.hasUtf8Names(), config.edges().dimensions())
            : null;
    return PagesFeature.of(spans, edges, context.telemetry(), context.clocks());
  }
}
