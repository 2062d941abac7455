package org.traceetl.server.features.why;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.function.Function;
import org.traceetl.proto.LearntNames;
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
    // Learnt names are unknown here, as they are in a preview.
    Function<String, SpanNames> names =
        application ->
            new SpanNames(
                context.spanRules().of(application).patterns(),
                series.templates().enabled(),
                series.maxValueBytes(),
                () -> LearntNames.NONE);
    Why.Source source =
        (from, until, limits, reader) ->
            new RetainedMessages(
                    context.config().rocketmq(),
                    context.clocks(),
                    new PrintWriter(Writer.nullWriter()))
                .read(from, until, limits, reader);
    WhyConfig config = (WhyConfig) own;
    return new WhyFeature(
        config, new Why(config, names, series.maxValueBytes(), source), context.clocks());
  }

  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
