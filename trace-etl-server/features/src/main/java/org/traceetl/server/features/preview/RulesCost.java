package org.traceetl.server.features.preview;

import java.util.List;

/**
 * The cost of an application's series by some rules.
 *
 * @param rules {@value #CONFIGURATION}, or {@code revision} with its number
 * @param lacking what some groups lack: labels of dimensions, and attributes of measures. If there
 *     are some, figures that depend on all of these are estimated from a sample
 * @param errorFactor by which estimated numbers of series and values may be too high or too low; 1
 *     if they are exact, null if it is unknown, because the sample is empty
 * @param incompleteSpans spans in groups without some of these
 * @param wholeSpans the spans of these that agents also sent whole: the sample
 * @param series distinct series, as all figures with those of measures
 * @param seriesOnQueues sum of the series on each queue, which servers and pages have
 * @param overflowing series of these above the limit of their queue
 * @param fullQueues queues with such series
 * @param memoryBytes of the series on all queues, without native buckets
 * @param pageBytes of the series on all queues on an OpenMetrics page, not compressed
 * @param samples of the series on all queues on a text page
 * @param labels of series of spans by label, in the order of the labels on pages
 * @param measures by metric, in the order of the rules
 */
public record RulesCost(
    String rules,
    List<String> lacking,
    Double errorFactor,
    long incompleteSpans,
    long wholeSpans,
    long series,
    long seriesOnQueues,
    long overflowing,
    int fullQueues,
    long memoryBytes,
    long pageBytes,
    long samples,
    List<Label> labels,
    List<Measure> measures) {
  /** Name of the rules that apply if none were published. */
  public static final String CONFIGURATION = "configuration";

  boolean isConfiguration() {
    return rules.equals(CONFIGURATION);
  }

  boolean estimated() {
    return !lacking.isEmpty();
  }

  /**
   * A metric of measures.
   *
   * @param metric its name in the rules
   * @param estimated whether its figures are estimated
   * @param series distinct series
   * @param seriesOnQueues sum of the series on each queue
   * @param memoryBytes of the series on all queues
   * @param pageBytes of the series on all queues on an OpenMetrics page, not compressed
   * @param samples of the series on all queues on a text page
   */
  public record Measure(
      String metric,
      boolean estimated,
      long series,
      long seriesOnQueues,
      long memoryBytes,
      long pageBytes,
      long samples) {}

  /**
   * A label.
   *
   * @param values number of its values
   * @param valuesEstimated whether that number is estimated
   * @param seriesWithout series if the label did not exist
   * @param seriesWithoutEstimated whether that number is estimated
   * @param top up to ten values with most series, the most first
   */
  public record Label(
      String label,
      long values,
      boolean valuesEstimated,
      long seriesWithout,
      boolean seriesWithoutEstimated,
      List<Value> top) {}

  /**
   * A value of a label.
   *
   * @param series series with the value, estimated if those of the application are
   */
  public record Value(String value, long series) {}
}
