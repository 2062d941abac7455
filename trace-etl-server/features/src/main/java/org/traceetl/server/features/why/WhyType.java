package org.traceetl.server.features.why;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.function.Function;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.series.SpanNames;

/** What slow or failed spans have in common. */
public final class WhyType implements FeatureType {
  @Override
  public ConfigSection<WhyConfig, WhyConfig> section() {
    return ConfigSection.of("why", WhyConfig.class, WhyConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    SeriesConfig series = context.config().series();
    Why.Source source =
        (from, until, limits, reader) ->
            new RetainedMessages(
                    context.config().rocketmq(),
                    context.clocks(),
                    new PrintWriter(Writer.nullWriter()))
                .read(from, until, limits, reader);
    WhyConfig config = (WhyConfig) own;
    return new WhyFeature(
        config,
        new Why(
            config,
            names(context),
            series.maxValueBytes(),
            source,
            context.documents(),
            context.clocks()),
        context.clocks());
  }

  /** Returns the names of an application's operations as series have them now. */
  static Function<String, SpanNames> names(ServerContext context) {
    SeriesConfig series = context.config().series();
    return application ->
        new SpanNames(
            context.spanRules().of(application).patterns(),
            series.templates().enabled(),
            series.maxValueBytes(),
            context::learnt);
  }

  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
