package org.traceetl.server.features.preview;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Compares what the series of an application cost by the rules in force and by a file of rules,
 * from the messages on the broker. Joins no consumer group, stores no offset and changes nothing.
 *
 * <p>Learnt names are ignored. For one thread and one comparison.
 */
public final class RulesPreview implements RetainedMessages.Reader {
  private static final int TOP = 10;
  private static final int MAX_SHOWN = 100;
  private static final int OTHERS_SHOWN = 20;

  /** Series of which a page is rendered. */
  private static final int RENDERED = 1_000;

  /**
   * Memory of a series of 16 bounds without its labels: the most in {@code SeriesMemoryBenchmark}.
   */
  private static final int STATE_BYTES = 290;

  /** Numbers of such a series: its buckets with +Inf. */
  private static final int STATE_STRIDE = 17;

  /** Of a number: 4 in each of two windows, and 4 with the series. */
  private static final int NUMBER_BYTES = 12;

  private static final int ARRAY_HEADER_BYTES = 16;

  private final String application;
  private final PreviewedRules rulesInForce;
  private final PreviewedRules proposedRules;
  private final Preview inForce;
  private final Preview proposed;
  private final PreviewLimits limits;
  private RetainedMessages.Extent extent = new RetainedMessages.Extent(0, true);

  public RulesPreview(
      String application,
      PreviewedRules inForce,
      PreviewedRules proposed,
      Messages messages,
      PreviewLimits limits) {
    this.application = application;
    this.limits = limits;
    rulesInForce = inForce;
    proposedRules = proposed;
    this.inForce = preview(inForce, messages);
    this.proposed = preview(proposed, messages);
  }

  private Preview preview(PreviewedRules rules, Messages messages) {
    return Preview.ofApplication(
        application, rules.series(), rules.measures(), messages, limits.keys());
  }

  /**
   * Reads the messages since a time as far as the limits allow, and compares.
   *
   * @param since maximum age of a message
   * @param pages measures pages
   * @param progress receives a line every few seconds
   * @throws IOException if the topic cannot be read, or has no span of the application
   */
  public RulesComparison run(
      RocketMqConfig rocketmq, Duration since, Clocks clocks, PageSize pages, PrintWriter progress)
      throws IOException, InterruptedException {
    extent =
        new RetainedMessages(rocketmq, clocks, progress, limits.patience())
            .read(since, limits.reads(), this);
    if (inForce.messages() == 0) {
      throw new NoSpans(
          "Topic "
              + rocketmq.topic()
              + " has no messages of spans since "
              + clocks.wall().instant().minus(since).truncatedTo(ChronoUnit.SECONDS));
    }
    return compare(pages);
  }

  @Override
  public void add(QueueId queue, byte[] message) {
    long before = inForce.matched();
    inForce.add(queue, message);
    if (inForce.matched() > before) {
      proposed.add(queue, message);
    }
  }

  @Override
  public boolean isFull() {
    return inForce.isFull() || proposed.isFull();
  }

  /**
   * Compares the rules by the messages that were added.
   *
   * @throws IOException if these have no span of the application, or a page cannot be rendered
   */
  RulesComparison compare(PageSize pages) throws IOException, InterruptedException {
    ApplicationEstimate estimate = inForce.estimate();
    if (estimate == null) {
      throw new NoSpans(
          "Application "
              + Printable.of(application, MAX_SHOWN)
              + " has no spans in "
              + inForce.messages()
              + " messages ("
              + inForce.refused()
              + " refused)"
              + (inForce.others().isEmpty()
                  ? ""
                  : ". They have spans of: "
                      + inForce.others().stream()
                          .limit(OTHERS_SHOWN)
                          .map(name -> Printable.of(name, MAX_SHOWN))
                          .collect(Collectors.joining(", "))
                      + (inForce.others().size() > OTHERS_SHOWN ? ", …" : "")));
    }
    return new RulesComparison(
        application,
        inForce.messages(),
        inForce.refused(),
        inForce.matched(),
        estimate.spans(),
        inForce.filtered(),
        inForce.detail().queues(),
        rulesInForce.series().maxPerApplication(),
        Instant.ofEpochMilli(extent.fromMillis()),
        extent.isComplete() && !isFull(),
        cost(rulesInForce, inForce, pages),
        cost(proposedRules, proposed, pages));
  }

  private static RulesCost cost(PreviewedRules rules, Preview preview, PageSize pages)
      throws IOException, InterruptedException {
    ApplicationEstimate estimate = preview.estimate();
    SeriesDetail detail = preview.detail();
    double spansPerSample = estimate.spansPerSample();
    Map<QueueId, Long> ofQueues = detail.ofQueues(spansPerSample);
    // Estimates of queues may sum up to less than that of the application.
    long onQueues = Math.max(estimate.series(), sum(ofQueues));
    Size size = size(rules.naming(), detail, onQueues, pages);
    List<RulesCost.Measure> measures = new ArrayList<>();
    for (Map.Entry<String, MeasureEstimate> each : preview.measures().entrySet()) {
      MeasureEstimate measure = each.getValue();
      Map<QueueId, Long> series = measure.detail().ofQueues(spansPerSample);
      series.forEach((queue, more) -> ofQueues.merge(queue, more, Long::sum));
      measures.add(
          measure(
              each.getKey(),
              measure,
              sum(series),
              spansPerSample,
              rules.namingOfMeasures(),
              pages));
    }
    int limit = rules.series().maxPerApplication();
    boolean isUnknown = estimate.incomplete() > 0 && estimate.samples() == 0;
    return new RulesCost(
        rules.name(),
        lacking(rules.labels(), estimate, preview.measures()),
        isUnknown ? null : Math.sqrt(spansPerSample),
        estimate.incomplete(),
        estimate.samples(),
        estimate.series() + sum(measures, RulesCost.Measure::series),
        onQueues + sum(measures, RulesCost.Measure::seriesOnQueues),
        ofQueues.values().stream().mapToLong(series -> Math.max(0, series - limit)).sum(),
        (int) ofQueues.values().stream().filter(series -> series > limit).count(),
        size.memoryBytes + sum(measures, RulesCost.Measure::memoryBytes),
        size.pageBytes + sum(measures, RulesCost.Measure::pageBytes),
        size.samples + sum(measures, RulesCost.Measure::samples),
        labels(rules.labels(), rules.naming(), estimate, detail),
        List.copyOf(measures));
  }

  private static RulesCost.Measure measure(
      String metric,
      MeasureEstimate measure,
      long ofQueues,
      double spansPerSample,
      SpanNaming naming,
      PageSize pages)
      throws IOException, InterruptedException {
    long series = measure.series(spansPerSample);
    long onQueues = Math.max(series, ofQueues);
    Size size = size(naming, measure.detail(), onQueues, pages);
    return new RulesCost.Measure(
        metric,
        measure.isIncomplete(),
        series,
        onQueues,
        size.memoryBytes,
        size.pageBytes,
        size.samples);
  }

  private static long sum(Map<QueueId, Long> ofQueues) {
    return ofQueues.values().stream().mapToLong(Long::longValue).sum();
  }

  private static long sum(
      List<RulesCost.Measure> measures, ToLongFunction<RulesCost.Measure> figure) {
    return measures.stream().mapToLong(figure).sum();
  }

  private record Size(long memoryBytes, long pageBytes, long samples) {}

  /** Returns the size of series, scaled from some of them. */
  private static Size size(SpanNaming naming, SeriesDetail detail, long onQueues, PageSize pages)
      throws IOException, InterruptedException {
    List<SeriesDefinition> some = detail.some(RENDERED);
    if (some.isEmpty()) {
      return new Size(0, 0, 0);
    }
    double share = (double) onQueues / some.size();
    return new Size(
        Math.round(share * memoryBytes(naming, some)),
        Math.round(share * pages.bytes(naming, some)),
        Math.round(share * samples(naming, some)));
  }

  private static List<String> lacking(
      List<String> labels, ApplicationEstimate estimate, Map<String, MeasureEstimate> measures) {
    return Stream.concat(
            IntStream.range(SeriesDefinition.FIXED_DIMENSIONS, labels.size())
                .filter(label -> estimate.lacks(label - SeriesDefinition.FIXED_DIMENSIONS))
                .mapToObj(labels::get),
            measures.entrySet().stream()
                .filter(measure -> measure.getValue().isIncomplete())
                .map(measure -> "attributes of " + measure.getKey()))
        .toList();
  }

  private static List<RulesCost.Label> labels(
      List<String> names, SpanNaming naming, ApplicationEstimate estimate, SeriesDetail detail) {
    double spansPerSample = estimate.spansPerSample();
    boolean estimated = estimate.lacksAny();
    LongPredicate isCertain = estimate::isCertain;
    List<RulesCost.Label> labels = new ArrayList<>();
    for (int label = SeriesDefinition.SPAN_NAME; label < names.size(); label++) {
      int position = label;
      UnaryOperator<String> shown = value -> naming.shown(position, value);
      List<RulesCost.Value> top = detail.top(label, shown, isCertain, spansPerSample, TOP);
      int dimension = label - SeriesDefinition.FIXED_DIMENSIONS;
      if (dimension >= 0) {
        labels.add(
            new RulesCost.Label(
                names.get(label),
                estimate.values(dimension),
                estimate.lacks(dimension),
                estimate.without(dimension),
                estimate.lacksOther(dimension),
                top));
      } else {
        boolean isName = label == SeriesDefinition.SPAN_NAME;
        labels.add(
            new RulesCost.Label(
                names.get(label),
                isName ? estimate.names() : detail.values(label, shown),
                false,
                detail.without(label, isCertain, spansPerSample),
                estimated,
                top));
      }
    }
    return List.copyOf(labels);
  }

  private static long memoryBytes(SpanNaming naming, List<SeriesDefinition> series) {
    long state = STATE_BYTES + (long) NUMBER_BYTES * (naming.stride() - STATE_STRIDE);
    return series.stream()
        .mapToLong(each -> state + aligned(ARRAY_HEADER_BYTES + naming.labels(each, null).length))
        .sum();
  }

  /** Returns the bytes that a heap uses for an object. */
  private static long aligned(long bytes) {
    return (bytes + 7) / 8 * 8;
  }

  /** Returns the samples of the series on a text page. */
  private static long samples(SpanNaming naming, List<SeriesDefinition> series) {
    long samples = 0;
    for (SeriesDefinition each : series) {
      long families = naming.families(each);
      for (Family family : naming.families()) {
        if ((families & family.bit()) != 0) {
          // Buckets, sum and count of a histogram.
          samples += family.isHistogram() ? family.buckets() + 2 : 1;
        }
      }
    }
    return samples;
  }
}
